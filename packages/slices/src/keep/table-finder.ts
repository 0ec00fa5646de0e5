import { ADDRESS_LENGTH, ByteReader, isLedgerStateError } from '@ledger-state/core'
import { copyBytes } from '@ledger-state/core/bytes'
import { findFields, isTable, ValueWalker } from '@ledger-state/move-module'
import { type StructTag, type TypeTag, typeTagToText } from '@ledger-state/type-tag'
import type { ModuleBook } from './module-book.js'

/** A table with a handle found in a value. */
export interface FoundTable {
  readonly handle: Uint8Array
  readonly valueType: TypeTag
}

/** Most types for which it is remembered whether their values can hold tables. */
const MOST_TYPES = 20_000
/** Most levels of types within types. */
const MOST_LEVELS = 128

/**
 * Finds the handles of tables in values, at any depth. It skips values of types that cannot hold tables, which most
 * types are.
 */
export class TableFinder {
  readonly #book: ModuleBook
  readonly #holders = new Map<string, boolean>()
  #revision = -1

  constructor(book: ModuleBook) {
    this.#book = book
  }

  /**
   * Finds the tables in a value. Undefined if it cannot walk through the value, because a module is absent or lacking
   * or the value does not fit its type; `found` then has the tables found before.
   */
  find(tag: TypeTag, value: Uint8Array, found: FoundTable[]): boolean {
    if (!this.mayHold(tag)) return true
    const walker = new ValueWalker(this.#book.find, (struct, reader) => visit(struct, reader, found))
    try {
      return walker.walk(tag, new ByteReader(value)) === 'passed'
    } catch (error) {
      if (isLedgerStateError(error, 'invalid_bcs', 'invalid_module')) return false
      throw error
    }
  }

  /** Whether values of a type can hold tables; true if that is unknown. */
  mayHold(tag: TypeTag): boolean {
    if (this.#revision !== this.#book.revision || this.#holders.size > MOST_TYPES) {
      this.#holders.clear()
      this.#revision = this.#book.revision
    }
    return this.#mayHold(tag, 0)
  }

  #mayHold(tag: TypeTag, level: number): boolean {
    if (tag.kind === 'vector') return this.#mayHold(tag.element, level)
    if (tag.kind !== 'struct') return tag.kind === 'function'
    if (isTable(tag) || level > MOST_LEVELS) return true
    const text = typeTagToText(tag)
    const known = this.#holders.get(text)
    if (known !== undefined) return known
    const fields = findFields(tag, this.#book.find)
    if (!fields) return true
    const holds = fields.variants.some((variant) => variant.some((field) => this.#mayHold(field, level + 1)))
    this.#holders.set(text, holds)
    return holds
  }
}

function visit(struct: StructTag, reader: ByteReader, found: FoundTable[]): boolean {
  const [, valueType] = struct.typeArguments
  if (isTable(struct) && valueType && reader.remaining >= ADDRESS_LENGTH) {
    found.push({ handle: copyBytes(reader.bytes, reader.offset, reader.offset + ADDRESS_LENGTH), valueType })
  }
  return false
}
