import type { LedgerStateError, StateView } from '@ledger-state/core'
import type { StructTag } from '@ledger-state/type-tag'
import { createStoredValue, type StoredValue } from '../types/stored-value.js'
import type { TypeResolver } from '../types/type-resolver.js'
import { resourceTypeToText } from './resource-type-text.js'

/**
 * A resource of an account, or a member of one of its groups. Its JSON throws `stored_data_invalid` where the type cannot
 * be resolved at the version or the bytes are not of it.
 */
export interface Resource extends StoredValue {
  readonly tag: StructTag
  /** The text of the type, as it stands beside the value in JSON. */
  typeText(): string
}

/** `blame` makes the error of bytes that cannot be decoded. */
export function createResource(
  view: StateView,
  types: TypeResolver,
  tag: StructTag,
  bytes: Uint8Array,
  blame: (why: LedgerStateError) => LedgerStateError,
): Resource {
  const value = createStoredValue(view, types, tag, bytes, { type: blame, value: blame })
  return { ...value, tag, typeText: () => resourceTypeToText(tag) }
}
