import { type JsonValue, jsonValueToText } from '@ledger-state/bcs'
import type { LedgerStateError } from '@ledger-state/core'
import type { StateView } from '@ledger-state/engine'
import { type TypeTag, tableItemKey, typeTagToText } from '@ledger-state/type-tag'
import { invalidValue, quoteKey, quoteKeyBytes, tableItemNotFound, valueTypeMismatch } from '../errors.js'
import type { LedgerState } from '../state/ledger-state.js'
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
 * Reads a table item. Resolves the types of the key and, for JSON, of the value, each within the budget of `layoutOf`.
 * The JSON of the item throws `value_type_mismatch` if the value type cannot be resolved or the bytes do not fit it.
 * @throws `invalid_value` if the key does not fit its type or the type cannot be resolved; `table_item_not_found`
 */
export function readTableItem(state: LedgerState, request: TableItemRequest): StoredValue {
  const { view, source } = state
  const { handle, valueType, key } = request
  const bytes = view.get(tableItemStateKey(state, request))
  if (!bytes) throw tableItemNotFound(handle, quoteKey(jsonValueToText(key)), view.version)
  return createTableValue(view, source.types, valueType, bytes)
}

/**
 * The state key of a table item, in database form.
 * @throws `invalid_value` if the key does not fit its type or the type cannot be resolved
 */
export function tableItemStateKey(
  { view, source }: LedgerState,
  { handle, keyType, key }: Pick<TableItemRequest, 'handle' | 'keyType' | 'key'>,
): Uint8Array {
  return tableItemKey(handle, encodeTableKey(view, source.types, keyType, key))
}

/**
 * A key or value of a type that the caller names. Its JSON throws `value_type_mismatch` if it does not fit the type.
 */
export function createTableValue(view: StateView, types: TypeResolver, type: TypeTag, bytes: Uint8Array): StoredValue {
  return new TypedBytes(view, types, type, bytes, blameValueType)
}

function blameValueType(fault: 'type' | 'value', tag: TypeTag, why: LedgerStateError): LedgerStateError {
  return (fault === 'type' ? valueTypeMismatch.valueTypeUnresolved : valueTypeMismatch.stored)(typeTagToText(tag), why)
}

/**
 * The BCS of a key.
 * @throws `invalid_value` if the key does not fit its type or the type cannot be resolved
 */
function encodeTableKey(view: StateView, types: TypeResolver, keyType: TypeTag, key: JsonValue): Uint8Array {
  try {
    return types.resolve(keyType, view).jsonToBytes(key)
  } catch (error) {
    if (!isTypeFault(error)) throw error
    throw invalidValue.keyDoesNotFit(typeTagToText(keyType), error)
  }
}

/**
 * Reads a table item by the BCS of its key.
 * @throws `table_item_not_found`
 */
export function readRawTableItem({ view }: LedgerState, handle: Uint8Array, key: Uint8Array): Uint8Array {
  const bytes = view.get(tableItemKey(handle, key))
  if (bytes) return bytes
  throw tableItemNotFound(handle, quoteKeyBytes(key), view.version)
}
