import type { Buffer } from 'node:buffer'
import { type Codec, type JsonValue, jsonValueToText } from '@ledger-state/bcs'
import type { LedgerStateError, StateView } from '@ledger-state/core'
import { type TypeTag, tableItemKey, typeTagToText } from '@ledger-state/type-tag'
import {
  keyDoesNotFit,
  quoteKey,
  quoteKeyBytes,
  tableItemNotFound,
  valueTypeMismatch,
  valueTypeUnresolved,
} from '../errors.js'
import { isTypeFault } from '../types/type-faults.js'
import type { TypeResolver } from '../types/type-resolver.js'

export interface TableItemRequest {
  /** 32 bytes. */
  readonly handle: Uint8Array
  readonly keyType: TypeTag
  readonly valueType: TypeTag
  readonly key: JsonValue
}

export interface TableItem {
  /** The stored bytes. */
  readonly bytes: Uint8Array
  /** @throws `value_type_mismatch` where the value type cannot be resolved or the bytes are not of it */
  toJson(): string
  /** The same as UTF-8. */
  toJsonUtf8(): Buffer
}

/** @throws `invalid_value` where the key does not fit its type or that cannot be resolved; `table_item_not_found` */
export function readTableItem(view: StateView, types: TypeResolver, request: TableItemRequest): TableItem {
  const { handle, keyType, valueType, key } = request
  const bytes = view.get(tableItemKey(handle, encodeTableKey(view, types, keyType, key)))
  if (!bytes) throw tableItemNotFound(handle, quoteKey(jsonValueToText(key)), view.version)
  return createTableItem(view, types, valueType, bytes)
}

/** The BCS of a key. @throws `invalid_value` where it does not fit its type or that cannot be resolved */
export function encodeTableKey(view: StateView, types: TypeResolver, keyType: TypeTag, key: JsonValue): Uint8Array {
  return blaming(
    (why) => keyDoesNotFit(typeTagToText(keyType), why),
    () => types.resolve(keyType, view).jsonToBytes(key),
  )
}

export function createTableItem(
  view: StateView,
  types: TypeResolver,
  valueType: TypeTag,
  bytes: Uint8Array,
): TableItem {
  const decode = <T>(read: (codec: Codec) => T): T => {
    const codec = blaming(
      (why) => valueTypeUnresolved(typeTagToText(valueType), why),
      () => types.resolve(valueType, view),
    )
    return blaming(
      (why) => valueTypeMismatch(typeTagToText(valueType), why),
      () => read(codec),
    )
  }
  return {
    bytes,
    toJson: () => decode((codec) => codec.bytesToJson(bytes)),
    toJsonUtf8: () => decode((codec) => codec.bytesToJsonUtf8(bytes)),
  }
}

/** `key` is BCS. @throws `table_item_not_found` */
export function readRawTableItem(view: StateView, handle: Uint8Array, key: Uint8Array): Uint8Array {
  const bytes = view.get(tableItemKey(handle, key))
  if (bytes) return bytes
  throw tableItemNotFound(handle, quoteKeyBytes(key), view.version)
}

/** Faults of types and values are the caller's, who named them: `blame` says of what. */
function blaming<T>(blame: (why: LedgerStateError) => LedgerStateError, work: () => T): T {
  try {
    return work()
  } catch (error) {
    if (!isTypeFault(error)) throw error
    throw blame(error)
  }
}
