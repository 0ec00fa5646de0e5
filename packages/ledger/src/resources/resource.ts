import type { Codec, JsonTextWriter } from '@ledger-state/bcs'
import { ByteReader, type LedgerStateError } from '@ledger-state/core'
import type { StateView } from '@ledger-state/engine'
import { readStructTag, type StructTag } from '@ledger-state/type-tag'
import { storedDataInvalid } from '../errors.js'
import type { LedgerState } from '../state/ledger-state.js'
import { DecodableBytes, type StoredValue, TypedBytes } from '../types/stored-value.js'
import type { StructResolver, TypeResolver } from '../types/type-resolver.js'
import { appendPlainTypeText, resourceTypeToText } from './resource-type-text.js'

/**
 * A resource of an account, or a member of one of its groups. Its JSON throws `stored_data_invalid` if the type cannot
 * be resolved at the version or the bytes do not fit it.
 */
export interface Resource extends StoredValue {
  readonly tag: StructTag
  /** Text of the type, as shown with the value in JSON. */
  typeText(): string
  /** Appends the text of the type as a JSON string. */
  appendTypeText(out: JsonTextWriter): void
}

/** A resource whose type is given as the BCS of its tag, of which nothing is decoded as long as its codec is known. */
class ListedResource extends DecodableBytes implements Resource {
  readonly #view: StateView
  readonly #types: StructResolver
  readonly #tagBytes: Uint8Array

  constructor(view: StateView, types: StructResolver, tagBytes: Uint8Array, bytes: Uint8Array) {
    super(bytes)
    this.#view = view
    this.#types = types
    this.#tagBytes = tagBytes
  }

  get tag(): StructTag {
    return readStructTag(new ByteReader(this.#tagBytes))
  }

  typeText(): string {
    return resourceTypeToText(this.tag)
  }

  appendTypeText(out: JsonTextWriter): void {
    if (!appendPlainTypeText(this.#tagBytes, out)) out.json(this.typeText())
  }

  protected resolve(): Codec {
    return this.#types.resolveStruct(this.#tagBytes, this.#view)
  }

  protected blame(_fault: 'type' | 'value', why: LedgerStateError): LedgerStateError {
    return storedDataInvalid.listedResourceUnreadable(why)
  }
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

  appendTypeText(out: JsonTextWriter): void {
    out.json(this.typeText())
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

/** A resource of a listing, by the BCS of its tag, which `tagOfResourceKey` has checked. */
export function createListedResource({ view, source }: LedgerState, tagBytes: Uint8Array, bytes: Uint8Array): Resource {
  return new ListedResource(view, source.types, tagBytes, bytes)
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
    appendTypeText: (out) => out.json(resourceTypeToText(tag)),
    toJson: refuse,
    appendJson: refuse,
    toJsonInSteps: refuse,
    toJsonUtf8InSteps: refuse,
  }
}
