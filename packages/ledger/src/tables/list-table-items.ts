import type { Codec } from '@ledger-state/bcs'
import { scanFrom } from '@ledger-state/engine'
import { type TypeTag, tableKeyPrefix } from '@ledger-state/type-tag'
import { createItemListing, type Listing, type ListOptions } from '../listings/listing.js'
import type { LedgerState } from '../state/ledger-state.js'
import type { StoredValue } from '../types/stored-value.js'
import type { TypeResolver } from '../types/type-resolver.js'
import { createTableValue } from './table-item.js'

/** The types of a table, as far as they are known. */
export interface TableTypes {
  readonly keyType?: TypeTag | undefined
  readonly valueType?: TypeTag | undefined
}

/** Key and value of an item: their bytes, and a decoder for each that has a known type. */
export interface ListedTableItem {
  /** BCS of the key. */
  readonly keyBytes: Uint8Array
  readonly bytes: Uint8Array
  readonly key: StoredValue | undefined
  readonly value: StoredValue | undefined
}

/**
 * The items of a table in the order of the bytes of their keys. A table that does not exist has no items. The JSON of a
 * key or value throws `value_type_mismatch` if its type cannot be resolved or the bytes do not fit it.
 */
export function listTableItems(
  { view, source }: LedgerState,
  handle: Uint8Array,
  { keyType, valueType }: TableTypes = {},
  { start, ...ends }: ListOptions = {},
): Listing<ListedTableItem> {
  const prefix = tableKeyPrefix(handle)
  const types = resolvedOnce(source.types)
  const typed = (type: TypeTag | undefined, bytes: Uint8Array) => type && createTableValue(view, types, type, bytes)
  // One more than the page shows, for the cursor.
  const limit = ends.limit === undefined ? undefined : ends.limit + 1
  return createItemListing(scanFrom(view, prefix, { start, limit }), ends, (entry) => {
    const keyBytes = entry.key.subarray(prefix.length)
    const bytes = entry.value
    return { keyBytes, bytes, key: typed(keyType, keyBytes), value: typed(valueType, bytes) }
  })
}

/** Resolves each type once for all items of a page, which are of one version. */
function resolvedOnce(types: TypeResolver): TypeResolver {
  const codecs = new Map<TypeTag, Codec>()
  return {
    resolve(tag, view) {
      const known = codecs.get(tag)
      if (known) return known
      const codec = types.resolve(tag, view)
      codecs.set(tag, codec)
      return codec
    },
  }
}
