import { ADDRESS_LENGTH, addressToShortHex, ByteReader, bytesToHex, isLedgerStateError } from '@ledger-state/core'
import { compareBytes, copyBytes, indexOfBytes } from '@ledger-state/core/bytes'
import type { StateView } from '@ledger-state/engine'
import { type StructTag, type TypeTag, tableKeyPrefix } from '@ledger-state/type-tag'
import type { ModuleCache } from '../modules/module-cache.js'
import { listResources } from '../resources/list-resources.js'
import type { TypeResolver } from '../types/type-resolver.js'
import { ValueWalker } from './value-walker.js'

/** The types of a table, and where its handle was found. */
export interface FoundTableTypes {
  readonly keyType: TypeTag
  readonly valueType: TypeTag
  /** The type of the resource that holds the handle, or holds the table that leads to it. */
  readonly foundIn: StructTag
  /** The item that holds the handle; undefined if the resource does itself. */
  readonly foundInItem: { readonly handle: Uint8Array; readonly key: Uint8Array } | undefined
}

/** Continues from one state key to the next, so that the caller can let others have their turn in between. */
export type TableTypesSearch = Generator<void, FoundTableTypes | undefined>

/** State keys of resources and of table items that one search looks at. */
const MOST_KEYS = 5_000
/** Bytes of the values that it looks at. */
const MOST_BYTES = 64 << 20

interface Table {
  readonly handle: Uint8Array
  readonly keyType: TypeTag
  readonly valueType: TypeTag
  /** The type of the resource from which the search came to it. */
  readonly resource: StructTag
}

/**
 * Searches an account for the types of a table: first its resources, for the one that holds the handle, then the items
 * of the tables that these hold, then those of the tables in the items, and so on. Undefined if the handle is not found within
 * the first 5,000 state keys and 64 MiB.
 * @throws `stored_data_invalid` if a group cannot be read
 */
export function findTableTypes(
  view: StateView,
  types: TypeResolver,
  modules: ModuleCache,
  handle: Uint8Array,
  holder: Uint8Array,
): TableTypesSearch {
  return new Search(view, types, modules, handle).run(holder)
}

class Search {
  readonly #view: StateView
  readonly #types: TypeResolver
  readonly #handle: Uint8Array
  readonly #walker: ValueWalker
  /** Tables in the order in which they were found; those that were searched, too. */
  readonly #tables = new Map<string, Table>()
  #resource: StructTag | undefined
  #found: Table | undefined
  #keys = 0
  #bytes = 0

  constructor(view: StateView, types: TypeResolver, modules: ModuleCache, handle: Uint8Array) {
    this.#view = view
    this.#types = types
    this.#handle = handle
    this.#walker = new ValueWalker(
      (id) => modules.find(view, id)?.read(),
      (struct, reader) => this.#visit(struct, reader),
    )
  }

  *run(holder: Uint8Array): TableTypesSearch {
    // Most resources do not hold the handle, and are then passed at little cost.
    for (const { tag, bytes } of listResources(this.#view, this.#types, holder)) {
      if (this.#isSpent(bytes)) return undefined
      this.#resource = tag
      if (this.#holdsHandle(bytes)) this.#walk(tag, bytes)
      if (this.#found) return resultOf(this.#found, undefined)
      yield
    }
    for (const { tag, bytes } of listResources(this.#view, this.#types, holder)) {
      if (this.#isSpent(bytes)) return undefined
      this.#resource = tag
      this.#walk(tag, bytes)
      yield
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
    for (const { key, value } of this.#view.scan(prefix)) {
      if (this.#isSpent(value)) return undefined
      this.#walk(valueType, value)
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

  /** Goes through a value as far as it can be read. */
  #walk(type: TypeTag, bytes: Uint8Array): void {
    try {
      this.#walker.walk(type, new ByteReader(bytes))
    } catch (error) {
      if (!isLedgerStateError(error, 'invalid_bcs', 'invalid_module')) throw error
    }
  }

  #visit(struct: StructTag, reader: ByteReader): boolean {
    const [keyType, valueType] = struct.typeArguments
    if (!isTable(struct) || !keyType || !valueType || reader.remaining < ADDRESS_LENGTH) return false
    const handle = copyBytes(reader.bytes, reader.offset, reader.offset + ADDRESS_LENGTH)
    const table = { handle, keyType, valueType, resource: this.#resource! }
    if (compareBytes(handle, this.#handle) === 0) {
      this.#found = table
      return true
    }
    const text = bytesToHex(handle)
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

/** Whether a struct is the handle of a table, which other kinds of tables hold. */
export function isTable({ address, module, name }: StructTag): boolean {
  return name === 'Table' && module === 'table' && addressToShortHex(address) === '0x1'
}

/** Keys of tables are types that can be copied and dropped, which a table cannot: only values hold tables. */
function mayHoldTables(valueType: TypeTag): boolean {
  return valueType.kind === 'vector' ? mayHoldTables(valueType.element) : valueType.kind === 'struct'
}
