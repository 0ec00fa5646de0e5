import { addressToShortHex, type ByteReader } from '@ledger-state/core'
import { FIXED_LENGTHS, type StructTag, type TypeTag } from '@ledger-state/type-tag'
import type { FieldDefinition, ModuleId, MoveModule } from './module-definition.js'
import { substitute } from './substitute.js'

/** Most levels of values within values. */
const MOST_LEVELS = 128
/** Most vectors and structs in all walks of one walker. */
const MOST_STEPS = 100_000
/**
 * Most types that a field's type may name once its type arguments are put in. Parts are shared, so without a limit a
 * type may grow exponentially with the levels of structs.
 */
const MOST_TYPES_OF_FIELD = 1_024

/**
 * Outcome of a walk. `ended`: a visit ended it. `stuck`: at something that cannot be walked through, such as a
 * function, or at a limit.
 */
export type WalkOutcome = 'passed' | 'ended' | 'stuck'

/** Called at each struct of a value, with the reader at its first byte. The result true ends the walk. */
export type VisitStruct = (tag: StructTag, reader: ByteReader) => boolean

/**
 * Finds a module by its id; undefined if there is none.
 * @throws `invalid_module`
 */
export type FindModule = (id: ModuleId) => MoveModule | undefined

/** Types of fields, for each variant of an enum; a struct counts as one variant. */
export interface StructFields {
  readonly isEnum: boolean
  readonly variants: readonly (readonly TypeTag[])[]
}

/** Walks through values together with their types. Layouts would not do, as they keep only the form of types. */
export class ValueWalker {
  readonly #findModule: FindModule
  readonly #visit: VisitStruct
  readonly #fields = new Map<StructTag, StructFields | undefined>()
  #steps = 0

  constructor(findModule: FindModule, visit: VisitStruct) {
    this.#findModule = findModule
    this.#visit = visit
  }

  /**
   * Walks through a value.
   * @throws `invalid_bcs` if the bytes do not fit the type; `invalid_module`
   */
  walk(tag: TypeTag, reader: ByteReader, level = 0): WalkOutcome {
    const length = FIXED_LENGTHS[tag.kind]
    if (length !== undefined) {
      reader.skip(length)
      return 'passed'
    }
    if (level > MOST_LEVELS || ++this.#steps > MOST_STEPS) return 'stuck'
    if (tag.kind === 'vector') return this.#walkVector(tag.element, reader, level)
    return tag.kind === 'struct' ? this.#walkStruct(tag, reader, level) : 'stuck'
  }

  #walkVector(element: TypeTag, reader: ByteReader, level: number): WalkOutcome {
    const count = reader.readLength()
    const length = FIXED_LENGTHS[element.kind]
    if (length !== undefined) {
      reader.skip(count * length)
      return 'passed'
    }
    for (let at = 0; at < count; at++) {
      const outcome = this.walk(element, reader, level + 1)
      if (outcome !== 'passed') return outcome
    }
    return 'passed'
  }

  #walkStruct(tag: StructTag, reader: ByteReader, level: number): WalkOutcome {
    if (this.#visit(tag, reader)) return 'ended'
    if (!this.#fields.has(tag)) this.#fields.set(tag, findFields(tag, this.#findModule))
    const fields = this.#fields.get(tag)
    if (!fields) return 'stuck'
    const variant = fields.variants[fields.isEnum ? reader.readUleb128() : 0]
    if (!variant) return 'stuck'
    for (const field of variant) {
      const outcome = this.walk(field, reader, level + 1)
      if (outcome !== 'passed') return outcome
    }
    return 'passed'
  }
}

/**
 * The types of the fields of a struct; undefined if they are not known.
 * @throws `invalid_module`
 */
export function findFields(tag: StructTag, findModule: FindModule): StructFields | undefined {
  const module = findModule({ address: tag.address, name: tag.module })
  const definition = module?.structs.find(({ name }) => name === tag.name)
  if (!definition || definition.kind === 'native') return undefined
  const isEnum = definition.kind === 'enum'
  const lists: readonly (readonly FieldDefinition[])[] = isEnum
    ? definition.variants.map(({ fields }) => fields)
    : [definition.fields]
  const variants: TypeTag[][] = []
  for (const list of lists) {
    const types = list.map(({ type }) => substitute(type, tag.typeArguments, MOST_TYPES_OF_FIELD))
    if (!types.every((type) => type !== undefined)) return undefined
    variants.push(types)
  }
  return { isEnum, variants }
}

/** Whether a struct is `0x1::table::Table`, which other kinds of tables contain and which has the handle. */
export function isTable({ address, module, name }: StructTag): boolean {
  return name === 'Table' && module === 'table' && addressToShortHex(address) === '0x1'
}
