import type { Buffer } from 'node:buffer'
import type { Codec } from '@ledger-state/bcs'
import type { LedgerStateError, StateView } from '@ledger-state/core'
import type { TypeTag } from '@ledger-state/type-tag'
import { blaming } from './type-faults.js'
import type { TypeResolver } from './type-resolver.js'

/** Stored bytes of a known type. They are decoded when their JSON is asked for, which throws where they are not of it. */
export interface StoredValue {
  readonly bytes: Uint8Array
  toJson(): string
  /** The same as UTF-8. */
  toJsonUtf8(): Buffer
}

/** Who is at fault, and how that is said. */
export interface BlameOfValue {
  /** The type cannot be resolved. */
  type(why: LedgerStateError): LedgerStateError
  /** The bytes are not of the type. */
  value(why: LedgerStateError): LedgerStateError
}

export function createStoredValue(
  view: StateView,
  types: TypeResolver,
  tag: TypeTag,
  bytes: Uint8Array,
  blame: BlameOfValue,
): StoredValue {
  const decode = <T>(read: (codec: Codec) => T): T => {
    const codec = blaming(blame.type, () => types.resolve(tag, view))
    return blaming(blame.value, () => read(codec))
  }
  return {
    bytes,
    toJson: () => decode((codec) => codec.bytesToJson(bytes)),
    toJsonUtf8: () => decode((codec) => codec.bytesToJsonUtf8(bytes)),
  }
}
