import type { Codec, JsonTextWriter } from '@ledger-state/bcs'
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
  /** Appends the JSON of a short value to a text. Returns false for a long one, which is printed in steps. */
  appendJson(out: JsonTextWriter): boolean
  /** The compact JSON as UTF-8, in steps if the value is long. */
  toJsonUtf8InSteps(): Steps<Uint8Array>
}

/** Makes the error for bytes that cannot be decoded: either their type cannot be resolved, or they do not fit it. */
export type BlameForValue = (fault: 'type' | 'value', tag: TypeTag, why: LedgerStateError) => LedgerStateError

/** Stored bytes that are decoded by a codec. */
export abstract class DecodableBytes implements StoredValue {
  readonly bytes: Uint8Array

  constructor(bytes: Uint8Array) {
    this.bytes = bytes
  }

  protected abstract resolve(): Codec
  protected abstract blame(fault: 'type' | 'value', why: LedgerStateError): LedgerStateError

  toJson(): string {
    const codec = this.#codec()
    try {
      return codec.bytesToJson(this.bytes)
    } catch (error) {
      throw this.#blamed('value', error)
    }
  }

  appendJson(out: JsonTextWriter): boolean {
    const codec = this.#codec()
    try {
      return codec.appendJson(this.bytes, out)
    } catch (error) {
      throw this.#blamed('value', error)
    }
  }

  *toJsonInSteps(): Steps<string> {
    const codec = this.#codec()
    try {
      return yield* codec.bytesToJsonInSteps(this.bytes)
    } catch (error) {
      throw this.#blamed('value', error)
    }
  }

  *toJsonUtf8InSteps(): Steps<Uint8Array> {
    const codec = this.#codec()
    try {
      return yield* codec.bytesToJsonUtf8InSteps(this.bytes)
    } catch (error) {
      throw this.#blamed('value', error)
    }
  }

  #codec(): Codec {
    try {
      return this.resolve()
    } catch (error) {
      throw this.#blamed('type', error)
    }
  }

  #blamed(fault: 'type' | 'value', error: unknown): unknown {
    return isTypeFault(error) ? this.blame(fault, error) : error
  }
}

export class TypedBytes extends DecodableBytes {
  readonly #view: StateView
  readonly #types: TypeResolver
  readonly #tag: TypeTag
  readonly #blame: BlameForValue

  constructor(view: StateView, types: TypeResolver, tag: TypeTag, bytes: Uint8Array, blame: BlameForValue) {
    super(bytes)
    this.#view = view
    this.#types = types
    this.#tag = tag
    this.#blame = blame
  }

  protected resolve(): Codec {
    return this.#types.resolve(this.#tag, this.#view)
  }

  protected blame(fault: 'type' | 'value', why: LedgerStateError): LedgerStateError {
    return this.#blame(fault, this.#tag, why)
  }
}
