import type { Codec } from '@ledger-state/bcs'
import type { LedgerStateError, Steps } from '@ledger-state/core'
import type { StateView } from '@ledger-state/engine'
import type { TypeTag } from '@ledger-state/type-tag'
import { isTypeFault } from './type-faults.js'
import type { TypeResolver } from './type-resolver.js'

/**
 * Stored bytes of a known type. They are decoded when their JSON is asked for, which throws if they do not fit the
 * type.
 */
export interface StoredValue {
  readonly bytes: Uint8Array
  /** The value as compact JSON, as full nodes print it. */
  toJson(): string
  /** The same, in steps if the value is long. */
  toJsonInSteps(): Steps<string>
  /** The compact JSON as UTF-8, in steps if the value is long. */
  toJsonUtf8InSteps(): Steps<Uint8Array>
}

/** Makes the error for bytes that cannot be decoded: either their type cannot be resolved, or they do not fit it. */
export type BlameForValue = (fault: 'type' | 'value', tag: TypeTag, why: LedgerStateError) => LedgerStateError

export class TypedBytes implements StoredValue {
  readonly bytes: Uint8Array
  readonly #view: StateView
  readonly #types: TypeResolver
  readonly #tag: TypeTag
  readonly #blame: BlameForValue

  constructor(view: StateView, types: TypeResolver, tag: TypeTag, bytes: Uint8Array, blame: BlameForValue) {
    this.bytes = bytes
    this.#view = view
    this.#types = types
    this.#tag = tag
    this.#blame = blame
  }

  toJson(): string {
    const codec = this.#resolve()
    try {
      return codec.bytesToJson(this.bytes)
    } catch (error) {
      throw this.#blamed('value', error)
    }
  }

  *toJsonInSteps(): Steps<string> {
    const codec = this.#resolve()
    try {
      return yield* codec.bytesToJsonInSteps(this.bytes)
    } catch (error) {
      throw this.#blamed('value', error)
    }
  }

  *toJsonUtf8InSteps(): Steps<Uint8Array> {
    const codec = this.#resolve()
    try {
      return yield* codec.bytesToJsonUtf8InSteps(this.bytes)
    } catch (error) {
      throw this.#blamed('value', error)
    }
  }

  #resolve(): Codec {
    try {
      return this.#types.resolve(this.#tag, this.#view)
    } catch (error) {
      throw this.#blamed('type', error)
    }
  }

  #blamed(fault: 'type' | 'value', error: unknown): unknown {
    return isTypeFault(error) ? this.#blame(fault, this.#tag, error) : error
  }
}
