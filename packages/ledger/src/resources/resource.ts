import type { LedgerStateError } from '@ledger-state/core'
import type { StateView } from '@ledger-state/engine'
import type { StructTag } from '@ledger-state/type-tag'
import { type StoredValue, TypedBytes } from '../types/stored-value.js'
import type { TypeResolver } from '../types/type-resolver.js'
import { resourceTypeToText } from './resource-type-text.js'

/**
 * A resource of an account, or a member of one of its groups. Its JSON throws `stored_data_invalid` if the type cannot
 * be resolved at the version or the bytes do not fit it.
 */
export interface Resource extends StoredValue {
  readonly tag: StructTag
  /** Text of the type, as shown with the value in JSON. */
  typeText(): string
}

class TypedResource extends TypedBytes implements Resource {
  readonly tag: StructTag

  constructor(view: StateView, types: TypeResolver, tag: StructTag, bytes: Uint8Array, blame: BlameForResource) {
    super(view, types, tag, bytes, (_fault, _tag, why) => blame(why))
    this.tag = tag
  }

  typeText(): string {
    return resourceTypeToText(this.tag)
  }
}

/** Makes the error for a resource that cannot be decoded. */
type BlameForResource = (why: LedgerStateError) => LedgerStateError

export function createResource(
  view: StateView,
  types: TypeResolver,
  tag: StructTag,
  bytes: Uint8Array,
  blame: BlameForResource,
): Resource {
  return new TypedResource(view, types, tag, bytes, blame)
}

/** A resource in an unreadable group: its JSON throws `error`, and its `bytes` are the bytes of the group. */
export function createUnreadableResource(tag: StructTag, bytes: Uint8Array, error: LedgerStateError): Resource {
  const refuse = (): never => {
    throw error
  }
  return {
    tag,
    bytes,
    typeText: () => resourceTypeToText(tag),
    toJson: refuse,
    toJsonInSteps: refuse,
    toJsonUtf8InSteps: refuse,
  }
}
