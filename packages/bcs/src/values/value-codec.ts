import type { Layout } from '../layout/layout.js'
import type { InferValue } from './build-layout.js'
import type { MoveValue } from './move-value.js'
import { createValueDecoder } from './value-decoder.js'
import { createValueEncoder } from './value-encoder.js'

/**
 * Reads and writes the values of one layout in the forms of `MoveValue`. Bytes must encode exactly one value. Otherwise
 * the error is `invalid_bcs`, with the path of the fault in `fields.path` and its byte offset in `fields.offset`.
 */
export interface ValueCodec<T = MoveValue> {
  readonly layout: Layout
  /** Decodes a value. @throws `invalid_bcs` */
  bytesToValue(bytes: Uint8Array): T
  /** Encodes a value. @throws `invalid_value`, `unsupported_type` */
  valueToBytes(value: T): Uint8Array
}

/**
 * Makes a codec of a layout. Each direction is compiled at its first use: keep the codec to use it again. If the
 * functions of `@ledger-state/bcs/layouts` built the layout, the compiler knows the type of the values.
 * @example
 * ```ts
 * import { createValueCodec } from '@ledger-state/bcs/values'
 *
 * const codec = createValueCodec({ kind: 'u64' })
 * console.log(codec.bytesToValue(codec.valueToBytes(7n))) // 7n
 * ```
 */
export function createValueCodec<L extends Layout>(layout: L): ValueCodec<InferValue<L>> {
  let decode: ((bytes: Uint8Array) => MoveValue) | undefined
  let encode: ((value: MoveValue) => Uint8Array) | undefined
  return {
    layout,
    // The decoder returns the forms of `InferValue`, and the encoder checks the values that it gets.
    bytesToValue(bytes) {
      decode ??= createValueDecoder(layout)
      return decode(bytes) as InferValue<L>
    },
    valueToBytes(value) {
      encode ??= createValueEncoder(layout)
      return encode(value as MoveValue)
    },
  }
}
