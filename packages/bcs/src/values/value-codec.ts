import type { Layout } from '../layout/layout.js'
import type { MoveValue } from './move-value.js'
import { createValueDecoder } from './value-decoder.js'
import { createValueEncoder } from './value-encoder.js'

/**
 * Reads and writes the values of one layout in the forms of `MoveValue`. Bytes are those of exactly one value: fewer or
 * more are `invalid_bcs`, with the path in the value in `fields.path` and the byte in `fields.offset`.
 */
export interface ValueCodec {
  readonly layout: Layout
  /** @throws `invalid_bcs` */
  bytesToValue(bytes: Uint8Array): MoveValue
  /** @throws `invalid_value`, `unsupported_type` */
  valueToBytes(value: MoveValue): Uint8Array
}

/**
 * The codec of a layout. Each direction is compiled at its first use: keep the codec to use it again.
 * @example
 * ```ts
 * import { createValueCodec } from '@ledger-state/bcs/values'
 *
 * const codec = createValueCodec({ kind: 'u64' })
 * console.log(codec.bytesToValue(codec.valueToBytes(7n))) // 7n
 * ```
 */
export function createValueCodec(layout: Layout): ValueCodec {
  let decode: ((bytes: Uint8Array) => MoveValue) | undefined
  let encode: ((value: MoveValue) => Uint8Array) | undefined
  return {
    layout,
    bytesToValue(bytes) {
      decode ??= createValueDecoder(layout)
      return decode(bytes)
    },
    valueToBytes(value) {
      encode ??= createValueEncoder(layout)
      return encode(value)
    },
  }
}
