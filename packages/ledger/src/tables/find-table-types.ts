import { bytesToHex } from '@ledger-state/core'
import { compareBytes, indexOfBytes } from '@ledger-state/core/bytes'
import { type StructTag, type TypeTag, tableKeyPrefix } from '@ledger-state/type-tag'
import { listResourcesInSteps } from '../resources/list-resources.js'
import type { LedgerState } from '../state/ledger-state.js'
import { type TableInValue, TableWalker } from './table-walker.js'

/** The types of a table, and the place of its handle. */
export interface FoundTableTypes {
  readonly keyType: TypeTag
  readonly valueType: TypeTag
  /** Type of the resource that holds the handle, directly or through other tables. */
  readonly foundIn: StructTag
  /** The table item that holds the handle; undefined if the resource holds it directly. */
  readonly foundInItem: { readonly handle: Uint8Array; readonly key: Uint8Array } | undefined
}

/** A search for the types of a table. It pauses after each state key, so that the caller can let others have a turn. */
export type TableTypesSearch = Generator<void, FoundTableTypes | undefined>

/** Most state keys of resources and table items that one search looks at. */
export const MOST_KEYS = 5_000
/** Most bytes of the values that one search looks at. */
export const MOST_BYTES = 64 << 20

interface Table extends TableInValue {
  /** The type of the resource through which the search found this table. */
  readonly resource: StructTag
}

/**
 * Searches an account for the types of a table: first its resources, then the items of the tables that they hold, then
 * the tables in those items, and so on. Undefined if the handle is not found within the first 5,000 state keys and 64
 * MiB.
 * @throws `stored_data_invalid` if a group cannot be read
 */
export function findTableTypes(state: LedgerState, handle: Uint8Array, holder: Uint8Array): TableTypesSearch {
  return new Search(state, handle).run(holder)
}

class Search {
  readonly #state: LedgerState
  readonly #handle: Uint8Array
  readonly #walker: TableWalker
  /** Tables in order of discovery, searched or not. */
  readonly #tables = new Map<string, Table>()
  #resource: StructTag | undefined
  #found: Table | undefined
  #keys = 0
  #bytes = 0

  constructor(state: LedgerState, handle: Uint8Array) {
    const { view, source } = state
    this.#state = state
    this.#handle = handle
    this.#walker = new TableWalker(source.modules, view, (table) => this.#visit(table))
  }

  *run(holder: Uint8Array): TableTypesSearch {
    // Most resources do not hold the bytes of the handle; finding that out costs little.
    for (const resource of listResourcesInSteps(this.#state, holder)) {
      yield
      if (!resource) continue
      const { tag, bytes } = resource
      if (this.#isSpent(bytes)) return undefined
      this.#resource = tag
      if (this.#holdsHandle(bytes)) this.#walker.walk(tag, bytes)
      if (this.#found) return resultOf(this.#found, undefined)
    }
    for (const resource of listResourcesInSteps(this.#state, holder)) {
      yield
      if (!resource) continue
      const { tag, bytes } = resource
      if (this.#isSpent(bytes)) return undefined
      this.#resource = tag
      this.#walker.walk(tag, bytes)
    }
    for (const table of this.#tables.values()) {
      const found = yield* this.#searchItems(table)
      if (found) return found
    }
    return undefined
  }

  *#searchItems({ handle, valueType, resource }: Table): TableTypesSearch {
    if (!mayHoldTables(valueType) || this.#isSpent(handle)) return undefined
    yield
    const prefix = tableKeyPrefix(handle)
    this.#resource = resource
    for (const { key, value } of this.#state.view.scan(prefix)) {
      if (this.#isSpent(value)) return undefined
      this.#walker.walk(valueType, value)
      if (this.#found) {
        return resultOf(this.#found, { handle, key: key.subarray(prefix.length) })
      }
      yield
    }
    return undefined
  }

  #isSpent({ length }: Uint8Array): boolean {
    this.#keys++
    this.#bytes += length
    return this.#keys > MOST_KEYS || this.#bytes > MOST_BYTES
  }

  #holdsHandle(bytes: Uint8Array): boolean {
    return indexOfBytes(bytes, this.#handle) >= 0
  }

  #visit(found: TableInValue): boolean {
    const table = { ...found, resource: this.#resource! }
    if (compareBytes(table.handle, this.#handle) === 0) {
      this.#found = table
      return true
    }
    const text = bytesToHex(table.handle)
    if (!this.#tables.has(text)) this.#tables.set(text, table)
    return false
  }
}

function resultOf(
  { keyType, valueType, resource }: Table,
  foundInItem: FoundTableTypes['foundInItem'],
): FoundTableTypes {
  return { keyType, valueType, foundIn: resource, foundInItem }
}

/**
 * Whether values of a type may hold tables. Keys never do: their types can be copied and dropped, and a table cannot.
 */
function mayHoldTables(valueType: TypeTag): boolean {
  return valueType.kind === 'vector' ? mayHoldTables(valueType.element) : valueType.kind === 'struct'
}
