import { ABILITY, type StructHandle } from '@ledger-state/move-module'
import type { CompileMeter } from '../budget/compile-meter.js'
import { malformedCode } from '../faults/vm-fault.js'
import type { OpenType, StructName } from './open-type.js'

const PLAIN = ABILITY.copy | ABILITY.drop | ABILITY.store

/** Abilities of the types in the code of one function, or in one struct, whose type parameters have constraints. */
export class TypeAbilities {
  readonly #constraints: readonly number[]
  readonly #handleOf: (struct: StructName) => StructHandle | undefined
  readonly #meter: CompileMeter
  readonly #known = new Map<OpenType, number>()

  constructor(
    constraints: readonly number[],
    handleOf: (struct: StructName) => StructHandle | undefined,
    meter: CompileMeter,
  ) {
    this.#constraints = constraints
    this.#handleOf = handleOf
    this.#meter = meter
  }

  /**
   * The abilities of a type.
   * @throws VmFault if the type is not well-formed: a type argument lacks an ability that the struct asks for, or is a
   * reference, or there is no such type parameter
   */
  of(type: OpenType): number {
    switch (type.kind) {
      case 'signer':
        return ABILITY.drop
      case 'vector':
        return this.#ofPart(type.element) & PLAIN
      case 'reference':
        this.#ofPart(type.to)
        return ABILITY.copy | ABILITY.drop
      case 'function':
      case 'struct':
        return this.#ofComposed(type)
      case 'typeParameter': {
        const constraints = this.#constraints[type.index]
        if (constraints === undefined)
          throw malformedCode(`type parameter ${type.index} of ${this.#constraints.length}`)
        return constraints
      }
      default:
        return PLAIN
    }
  }

  #ofPart(type: OpenType): number {
    if (type.kind === 'reference') throw malformedCode('a reference in the place of a value')
    return this.of(type)
  }

  #ofComposed(type: OpenType & { readonly kind: 'function' | 'struct' }): number {
    const known = this.#known.get(type)
    if (known !== undefined) return known
    this.#meter.charge(1, 0)
    let abilities: number
    if (type.kind === 'struct') abilities = this.#ofStruct(type)
    else {
      for (const one of type.parameters) this.of(one)
      for (const one of type.results) this.of(one)
      abilities = type.abilities
    }
    this.#known.set(type, abilities)
    return abilities
  }

  #ofStruct({ struct, typeArguments }: OpenType & { readonly kind: 'struct' }): number {
    const handle = this.#handleOf(struct)
    if (handle?.typeParameters.length !== typeArguments.length) throw malformedCode('a wrong number of type arguments')
    let { abilities } = handle
    for (const [at, { constraints, phantom }] of handle.typeParameters.entries()) {
      const found = this.#ofPart(typeArguments[at]!)
      expectConstraints(found, constraints)
      if (phantom) continue
      abilities &= (found & PLAIN) | ((found & ABILITY.store) === 0 ? 0 : ABILITY.key)
    }
    return abilities
  }
}

/** @throws VmFault if a type argument lacks an ability that its parameter asks for */
export function expectConstraints(found: number, constraints: number): void {
  if ((constraints & ~found) !== 0)
    throw malformedCode('a type argument without an ability that its parameter asks for')
}
