import { bytesToHexDigits } from '@ledger-state/core/bytes'
import type { Instantiation, ModuleCode, ModuleId, SignatureToken, StructDefinition } from '@ledger-state/move-module'
import { malformedCode } from '../faults/vm-fault.js'
import { PartedMap } from '../parted-map.js'
import { visitTypes } from './visit-types.js'

/** Work of comparing an entry with others, in instructions. */
const WORK_OF_ENTRY = 8
/** Work after which a check yields. */
const WORK_OF_STEP = 256

type Parts = readonly (string | number)[]

interface Named {
  readonly name: string
}

interface Handle extends Named {
  readonly module: ModuleId
}

/**
 * Expects of the tables of a module, as the reference does, that no two entries are equal, and that structs have fields and
 * enums variants. A struct or function of the module without a definition is not looked for: nothing can use it. It yields the number of types
 * and entries that the next step visits.
 * @throws VmFault
 */
export function* verifyEntries(code: ModuleCode): Generator<number, void, void> {
  const names = new Names(yield* numbersOf(code.identifiers), yield* numbersOf(code.moduleHandles))
  yield* expectDistinct('identifiers', code.identifiers, (name) => [name])
  yield* expectDistinct('addresses', code.addresses, (address) => [bytesToHexDigits(address)])
  yield* expectDistinct('module handles', code.moduleHandles, (module) => names.partsOf(module))
  yield* expectDistinct('friends', code.friends, (module) => names.partsOf(module))
  const ofHandle = ({ module, name }: Handle): Parts => [names.ofModule(module), names.of(name)]
  yield* expectDistinct('struct handles', code.structHandles, ofHandle)
  yield* expectDistinct('function handles', code.functionHandles, ofHandle)
  const types = new TypeNumbers(names)
  // A signature is an array that other tables share, so its place is its number.
  yield* expectDistinct(
    'signatures',
    code.signatures,
    (signature) => signature.map((type) => types.of(type)),
    (signature) => signature.reduce((sum, type) => sum + visitTypes(type, () => {}), 1),
  )
  yield* expectDistinct(
    'constants',
    code.constants,
    ({ type, bytes }) => [types.of(type), bytesToHexDigits(bytes)],
    ({ type, bytes }) => visitTypes(type, () => {}) + (bytes.length >> 5),
  )
  const signatures = yield* numbersOf(code.signatures)
  const ofInstantiation = ({ of, typeArguments }: Instantiation): Parts => [of, signatures.get(typeArguments)!]
  yield* expectDistinct('function instantiations', code.functionInstantiations, ofInstantiation)
  yield* expectDistinct('struct instantiations', code.structInstantiations, ofInstantiation)
  yield* expectDistinct('field handles', code.fieldHandles, ({ struct, field }) => [struct, field])
  yield* expectDistinct('field instantiations', code.fieldInstantiations, ofInstantiation)
  yield* expectDistinct(
    'variant field handles',
    code.variantFieldHandles,
    ({ struct, field, variants }) => [struct, field, ...variants],
    ({ variants }) => 1 + variants.length,
  )
  yield* expectDistinct('variant field instantiations', code.variantFieldInstantiations, ofInstantiation)
  yield* expectDistinct('variant handles', code.variantHandles, ({ struct, variant }) => [struct, variant])
  yield* expectDistinct('variant instantiations', code.variantInstantiations, ofInstantiation)
  const ofName = ({ name }: Named): Parts => [names.of(name)]
  yield* expectDistinct('structs', code.structs, ofName)
  for (const struct of code.structs) yield* expectFields(struct, ofName)
  yield* expectDistinct('functions', code.functions, ofName)
  for (const { name, acquires } of code.functions) {
    if (acquires.length > 1) yield* expectDistinct(`structs that ${name} acquires`, acquires, (struct) => [struct])
  }
}

/** The entries in steps: it yields the work of the next ones. `countOf` is the number of parts of an entry. */
function* inSteps<T>(
  entries: readonly T[],
  visit: (entry: T, at: number) => void,
  countOf: (entry: T) => number = () => 1,
): Generator<number, void, void> {
  let work = 0
  for (const [at, entry] of entries.entries()) {
    work += WORK_OF_ENTRY * countOf(entry)
    if (work >= WORK_OF_STEP) {
      yield work
      work = 0
    }
    visit(entry, at)
  }
  yield work
}

/** The places of entries in their table. */
function* numbersOf<T>(entries: readonly T[]): Generator<number, ReadonlyMap<T, number>, void> {
  const numbers = new Map<T, number>()
  yield* inSteps(entries, (entry, at) => numbers.set(entry, at))
  return numbers
}

/** Expects that no two entries have the same parts. */
function* expectDistinct<T>(
  what: string,
  entries: readonly T[],
  partsOf: (entry: T) => Parts,
  countOf?: (entry: T) => number,
): Generator<number, void, void> {
  const seen = new Set<string>()
  const visit = (entry: T) => {
    const key = partsOf(entry).join()
    if (seen.has(key)) throw malformedCode(`two equal ${what}`)
    seen.add(key)
  }
  yield* inSteps(entries, visit, countOf)
}

function* expectFields(struct: StructDefinition, namesOf: (named: Named) => Parts): Generator<number, void, void> {
  if (struct.kind === 'struct') {
    if (struct.fields.length === 0) throw malformedCode(`${struct.name}, a struct without fields`)
    yield* expectDistinct(`fields of ${struct.name}`, struct.fields, namesOf)
  } else if (struct.kind === 'enum') {
    if (struct.variants.length === 0) throw malformedCode(`${struct.name}, an enum without variants`)
    yield* expectDistinct(`variants of ${struct.name}`, struct.variants, namesOf)
    for (const { fields } of struct.variants) yield* expectDistinct(`fields of ${struct.name}`, fields, namesOf)
  }
}

/** Numbers of names and modules: a name may have 64 KiB, and may be used in each type. */
class Names {
  readonly #names: ReadonlyMap<string, number>
  readonly #modules: ReadonlyMap<ModuleId, number>

  constructor(names: ReadonlyMap<string, number>, modules: ReadonlyMap<ModuleId, number>) {
    this.#names = names
    this.#modules = modules
  }

  of(name: string): number {
    return this.#names.get(name)!
  }

  /** The place of a module in the table of module handles, which has each once. */
  ofModule(module: ModuleId): number {
    return this.#modules.get(module)!
  }

  partsOf({ address, name }: ModuleId): Parts {
    return [bytesToHexDigits(address), this.of(name)]
  }
}

/** Gives equal types equal numbers. */
class TypeNumbers {
  readonly #names: Names
  readonly #numbers = new PartedMap<string, number>()

  constructor(names: Names) {
    this.#names = names
  }

  of(type: SignatureToken): number {
    const text = this.#textOf(type)
    const known = this.#numbers.get(text)
    if (known !== undefined) return known
    this.#numbers.set(text, this.#numbers.size)
    return this.#numbers.size - 1
  }

  #textOf(type: SignatureToken): string {
    const all = (types: readonly SignatureToken[]) => types.map((one) => this.of(one)).join()
    switch (type.kind) {
      case 'vector':
        return `vector ${this.of(type.element)}`
      case 'reference':
        return `${type.mutable ? 'mutable' : 'reference'} ${this.of(type.to)}`
      case 'typeParameter':
        return `parameter ${type.index}`
      case 'struct':
        return `struct ${this.#names.ofModule(type.module)}.${this.#names.of(type.name)} ${all(type.typeArguments)}`
      case 'function':
        return `function ${type.abilities} ${all(type.parameters)}; ${all(type.results)}`
      default:
        return type.kind
    }
  }
}
