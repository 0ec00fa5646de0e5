import { type JsonValue, jsonValueToText } from '@ledger-state/bcs'
import type { LedgerStateError } from '@ledger-state/core'
import type { StateView } from '@ledger-state/engine'
import { type TypeTag, tableItemKey, typeTagToText } from '@ledger-state/type-tag'
import {
  keyDoesNotFit,
  quoteKey,
  quoteKeyBytes,
  tableItemNotFound,
  valueTypeMismatch,
  valueTypeUnresolved,
} from '../errors.js'
import { type StoredValue, TypedBytes } from '../types/stored-value.js'
import { isTypeFault } from '../types/type-faults.js'
import type { TypeResolver } from '../types/type-resolver.js'

/** A table item by the JSON of its key. */
export interface TableItemRequest {
  /** Handle of 32 bytes. */
  readonly handle: Uint8Array
  readonly keyType: TypeTag
  readonly valueType: TypeTag
  readonly key: JsonValue
}

/**
 * Reads a table item.
 * @throws `invalid_value` if the key does not fit its type or the type cannot be resolved; `table_item_not_found`
 */
export function readTableItem(view: StateView, types: TypeResolver, request: TableItemRequest): StoredValue {
  const { handle, keyType, valueType, key } = request
  const bytes = view.get(tableItemKey(handle, encodeTableKey(view, types, keyType, key)))
  if (!bytes) throw tableItemNotFound(handle, quoteKey(jsonValueToText(key)), view.version)
  return createTableValue(view, types, valueType, bytes)
}

/** A key or value whose type the caller names. Its JSON throws `value_type_mismatch` if it does not fit the type. */
export function createTableValue(view: StateView, types: TypeResolver, type: TypeTag, bytes: Uint8Array): StoredValue {
  return new TypedBytes(view, types, type, bytes, blameValueType)
}

function blameValueType(fault: 'type' | 'value', tag: TypeTag, why: LedgerStateError): LedgerStateError {
  return (fault === 'type' ? valueTypeUnresolved : valueTypeMismatch)(typeTagToText(tag), why)
}

/**
 * The BCS of a key.
 * @throws `invalid_value` if the key does not fit its type or the type cannot be resolved
 */
export function encodeTableKey(view: StateView, types: TypeResolver, keyType: TypeTag, key: JsonValue): Uint8Array {
  try {
    return types.resolve(keyType, view).jsonToBytes(key)
  } catch (error) {
    if (!isTypeFault(error)) throw error
    throw keyDoesNotFit(typeTagToText(keyType), error)
  }
}

/**
 * Reads a table item by the BCS of its key.
 * @throws `table_item_not_found`
 */
export function readRawTableItem(view: StateView, handle: Uint8Array, key: Uint8Array): Uint8Array {
  const bytes = view.get(tableItemKey(handle, key))
  if (bytes) return bytes
  throw tableItemNotFound(handle, quoteKeyBytes(key), view.version)
}
