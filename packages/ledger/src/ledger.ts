import { type Codec, type JsonValue, jsonValueToText } from '@ledger-state/bcs'
import type { LedgerInfo, StateReader, StateView } from '@ledger-state/core'
import { addressToShortHex, bytesToHex, isLedgerStateError, LedgerStateError } from '@ledger-state/core'
import { type TypeTag, tableItemKey, typeTagToText } from '@ledger-state/type-tag'
import { type Asset, readBalance } from './balance.js'
import { TypeResolver } from './type-resolver.js'

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

/** The three reads at one version. All of them, and `ledger`, speak of the same state of the ledger. */
export interface LedgerState {
  readonly version: bigint
  readonly ledger: LedgerInfo
  /** @throws `invalid_value` where the key does not fit its type or that cannot be resolved; `table_item_not_found` */
  readTableItem(request: TableItemRequest): TableItem
  /** @throws `table_item_not_found` */
  readRawTableItem(handle: Uint8Array, key: Uint8Array): Uint8Array
  /** @throws `invalid_bcs`, `balance_overflow` */
  readBalance(owner: Uint8Array, asset: Asset): bigint
}

export interface Ledger {
  /** Undefined as long as nothing was ingested. */
  readonly info: LedgerInfo | undefined
  /**
   * Pins the ledger at a version, by default the latest.
   * @throws `no_ledger`, `version_not_found`, `version_pruned`; the last also from reads, once the pruner has passed
   */
  at(version?: bigint): LedgerState
}

/** The reads over a versioned store, with one cache of resolved types. */
export function createLedger(state: StateReader): Ledger {
  const types = new TypeResolver()
  let last: PinnedState | undefined
  return {
    get info() {
      return state.ledger
    },
    at(version) {
      const view = state.at(version)
      // A store may hand out one view of its newest version to all.
      if (last?.view !== view) last = new PinnedState(view, types)
      return last
    },
  }
}

class PinnedState implements LedgerState {
  readonly version: bigint
  readonly ledger: LedgerInfo
  readonly view: StateView
  readonly #types: TypeResolver

  constructor(view: StateView, types: TypeResolver) {
    this.version = view.version
    this.ledger = view.ledger
    this.view = view
    this.#types = types
  }

  readTableItem({ handle, keyType, valueType, key }: TableItemRequest): TableItem {
    const keyBytes = withTypeErrors(
      'invalid_value',
      () => `key of type ${typeTagToText(keyType)}`,
      () => this.#types.resolve(keyType, this.view).jsonToBytes(key),
    )
    const bytes = this.#find(handle, keyBytes, () => jsonValueToText(key))
    const decode = <T>(read: (codec: Codec) => T): T => decodeValue(this.#types, this.view, valueType, read)
    return {
      bytes,
      toJson: () => decode((codec) => codec.bytesToJson(bytes)),
      toJsonUtf8: () => decode((codec) => codec.bytesToJsonUtf8(bytes)),
    }
  }

  readRawTableItem(handle: Uint8Array, key: Uint8Array): Uint8Array {
    return this.#find(handle, key, () => bytesToHex(key))
  }

  readBalance(owner: Uint8Array, asset: Asset): bigint {
    return readBalance(this.view, owner, asset)
  }

  #find(handle: Uint8Array, key: Uint8Array, keyText: () => string): Uint8Array {
    const bytes = this.view.get(tableItemKey(handle, key))
    if (bytes) return bytes
    const message = `Table Item not found by Table handle(${addressToShortHex(handle)}), Table key(${keyText()}) and Ledger version(${this.version})`
    throw new LedgerStateError('table_item_not_found', message)
  }
}

function decodeValue<T>(types: TypeResolver, view: StateView, valueType: TypeTag, read: (codec: Codec) => T): T {
  const text = () => typeTagToText(valueType)
  const codec = withTypeErrors(
    'value_type_mismatch',
    () => `value_type ${text()}`,
    () => types.resolve(valueType, view),
  )
  return withTypeErrors(
    'value_type_mismatch',
    () => `the stored value is not a ${text()}`,
    () => read(codec),
  )
}

/** Faults of types and values are the caller's, who named them: one code, and the message says of what. */
function withTypeErrors<T>(code: 'invalid_value' | 'value_type_mismatch', what: () => string, work: () => T): T {
  try {
    return work()
  } catch (error) {
    const faults = [
      'invalid_value',
      'invalid_bcs',
      'module_not_found',
      'struct_not_found',
      'type_argument_count',
      'unsupported_type',
      'type_too_large',
    ] as const
    if (!isLedgerStateError(error, ...faults)) throw error
    throw new LedgerStateError(code, `${what()}: ${error.message}`, error.fields)
  }
}
