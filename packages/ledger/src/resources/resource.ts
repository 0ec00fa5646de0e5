import type { Buffer } from 'node:buffer'
import type { Codec } from '@ledger-state/bcs'
import type { LedgerStateError, StateView } from '@ledger-state/core'
import type { StructTag } from '@ledger-state/type-tag'
import { isTypeFault } from '../types/type-faults.js'
import type { TypeResolver } from '../types/type-resolver.js'
import { resourceTypeToText } from './resource-type-text.js'

/** A resource of an account, or a member of one of its groups. */
export interface Resource {
  readonly tag: StructTag
  /** The text of the type, as it stands beside the value in JSON. */
  typeText(): string
  /** The stored bytes. */
  readonly bytes: Uint8Array
  /** @throws `stored_data_invalid` where the type cannot be resolved at the version or the bytes are not of it */
  toJson(): string
  /** The same as UTF-8. */
  toJsonUtf8(): Buffer
}

/** `blame` makes the error of bytes that cannot be decoded. */
export function createResource(
  view: StateView,
  types: TypeResolver,
  tag: StructTag,
  bytes: Uint8Array,
  blame: (why: LedgerStateError) => LedgerStateError,
): Resource {
  const decode = <T>(read: (codec: Codec) => T): T => {
    try {
      return read(types.resolve(tag, view))
    } catch (error) {
      if (!isTypeFault(error)) throw error
      throw blame(error)
    }
  }
  return {
    tag,
    typeText: () => resourceTypeToText(tag),
    bytes,
    toJson: () => decode((codec) => codec.bytesToJson(bytes)),
    toJsonUtf8: () => decode((codec) => codec.bytesToJsonUtf8(bytes)),
  }
}
