import {
  ABILITY,
  type FieldDefinition,
  type ModuleCode,
  type ModuleId,
  type SignatureToken,
  type StructDefinition,
  type StructHandle,
  type TypeParameter,
} from '@ledger-state/move-module'
import { malformedCode } from '../faults/vm-fault.js'

const PLAIN = ABILITY.copy | ABILITY.drop | ABILITY.store
const ALL = PLAIN | ABILITY.key

/** The names of structs as the code of one module uses them. */
export interface StructNames {
  handleOf(module: ModuleId, name: string): StructHandle | undefined
  isOwn(module: ModuleId): boolean
}

/**
 * Expects that the structs of a module contain no struct of the module that contains them, that their fields have the
 * abilities that theirs ask for, and that phantom type parameters are used as such. It yields the number of types that
 * each step has visited.
 * @throws VmFault
 */
export function* verifyStructs({ structs }: ModuleCode, names: StructNames): Generator<number, void, void> {
  const containers = new Map<string, Set<string>>(structs.map(({ name }) => [name, new Set()]))
  const contained = new Map<string, number>(structs.map(({ name }) => [name, 0]))
  for (const struct of structs) {
    const check = new FieldCheck(struct, names)
    for (const { type } of fieldsOf(struct)) {
      yield check.run(type, (inner) => {
        const known = containers.get(inner)
        if (!known || known.has(struct.name)) return
        known.add(struct.name)
        contained.set(struct.name, contained.get(struct.name)! + 1)
      })
    }
  }
  // Structs that contain none of the others are removed repeatedly: those in a circle remain.
  const free = [...contained].flatMap(([name, count]) => (count === 0 ? [name] : []))
  for (const name of free) {
    for (const container of containers.get(name)!) {
      const left = contained.get(container)! - 1
      contained.set(container, left)
      if (left === 0) free.push(container)
    }
  }
  yield free.length
  if (free.length < containers.size) throw malformedCode('a struct that contains itself')
}

function fieldsOf(struct: StructDefinition): readonly FieldDefinition[] {
  if (struct.kind === 'struct') return struct.fields
  return struct.kind === 'enum' ? struct.variants.flatMap(({ fields }) => fields) : []
}

/** Checks the types of the fields of one struct. */
class FieldCheck {
  readonly #struct: StructDefinition
  readonly #names: StructNames
  #visited = 0

  constructor(struct: StructDefinition, names: StructNames) {
    this.#struct = struct
    this.#names = names
  }

  /** Checks the type of a field. Returns the number of types visited. */
  run(type: SignatureToken, contain: (name: string) => void): number {
    const { abilities, typeParameters } = this.#struct
    this.#abilitiesOf(
      type,
      typeParameters.map(({ constraints }) => constraints),
    )
    const found = this.#abilitiesOf(
      type,
      typeParameters.map(() => ALL),
    )
    const needed = (abilities & PLAIN) | ((abilities & ABILITY.key) === 0 ? 0 : ABILITY.store)
    if ((needed & ~found) !== 0) throw malformedCode(`a field of ${this.#struct.name} without an ability of the struct`)
    this.#visit(type, false, contain)
    const visited = this.#visited
    this.#visited = 0
    return visited
  }

  /** The abilities of a type whose type parameters have these. @throws VmFault if it is not well-formed */
  #abilitiesOf(type: SignatureToken, parameters: readonly number[]): number {
    this.#visited++
    switch (type.kind) {
      case 'signer':
        return ABILITY.drop
      case 'vector':
        return this.#abilitiesOf(type.element, parameters) & PLAIN
      case 'reference':
        throw malformedCode('a reference in the place of a value')
      case 'function':
        for (const one of [...type.parameters, ...type.results]) {
          this.#abilitiesOf(one.kind === 'reference' ? one.to : one, parameters)
        }
        return type.abilities
      case 'typeParameter': {
        const abilities = parameters[type.index]
        if (abilities === undefined) throw malformedCode(`type parameter ${type.index} of ${parameters.length}`)
        return abilities
      }
      case 'struct':
        return this.#abilitiesOfStruct(type, parameters)
      default:
        return PLAIN
    }
  }

  #abilitiesOfStruct(
    { module, name, typeArguments }: SignatureToken & { kind: 'struct' },
    parameters: readonly number[],
  ): number {
    const handle = this.#names.handleOf(module, name)
    if (handle?.typeParameters.length !== typeArguments.length) throw malformedCode('a wrong number of type arguments')
    let { abilities } = handle
    for (const [at, { constraints, phantom }] of handle.typeParameters.entries()) {
      const found = this.#abilitiesOf(typeArguments[at]!, parameters)
      if ((constraints & ~found) !== 0) throw malformedCode('a type argument without an ability that is asked for')
      if (!phantom) abilities &= (found & PLAIN) | ((found & ABILITY.store) === 0 ? 0 : ABILITY.key)
    }
    return abilities
  }

  /** Finds the structs of the module in a type, and phantom type parameters that are not in a phantom place. */
  #visit(type: SignatureToken, isPhantomPlace: boolean, contain: (name: string) => void): void {
    this.#visited++
    switch (type.kind) {
      case 'vector':
        this.#visit(type.element, false, contain)
        break
      case 'function':
        for (const one of [...type.parameters, ...type.results]) this.#visit(one, false, contain)
        break
      case 'reference':
        this.#visit(type.to, false, contain)
        break
      case 'typeParameter':
        if (this.#parameter(type.index).phantom && !isPhantomPlace)
          throw malformedCode('a phantom type parameter in a field')
        break
      case 'struct': {
        if (this.#names.isOwn(type.module)) contain(type.name)
        const { typeParameters } = this.#names.handleOf(type.module, type.name)!
        for (const [at, one] of type.typeArguments.entries()) this.#visit(one, typeParameters[at]!.phantom, contain)
      }
    }
  }

  #parameter(index: number): TypeParameter {
    return this.#struct.typeParameters[index]!
  }
}
