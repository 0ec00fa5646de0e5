import type { Layout } from '../layout/layout.js'
import type { LayoutTraits } from '../layout/layout-size.js'
import { createJsonDecoder, type JsonDecoder } from './json-decoder.js'
import { createJsonEncoder } from './json-encoder.js'
import type { JsonValue } from './json-value.js'

/**
 * Reads and writes the JSON of values of one layout. Bytes are those of exactly one value: fewer or more are
 * `invalid_bcs`, with the path in the value in `fields.path` and the byte in `fields.offset`.
 */
export interface Codec {
  readonly layout: Layout
  /**
   * Compact JSON as the reference prints it, at most `maxBytes` of it (by default `MAX_JSON_TEXT_BYTES`).
   * @throws `invalid_bcs`; `type_too_large` for a longer text
   */
  bytesToJson(bytes: Uint8Array, maxBytes?: number): string
  /** The same as UTF-8, in a buffer that the caller owns. */
  bytesToJsonUtf8(bytes: Uint8Array, maxBytes?: number): Uint8Array
  /** @throws `invalid_value`, `unsupported_type` */
  jsonToBytes(value: JsonValue): Uint8Array
}

/**
 * A codec of a layout, made anew by each call. Each direction is compiled at its first use. `traits` are
 * those of the layout, where the caller knows them.
 * @example
 * ```ts
 * import { codecOf, parseJson } from '@ledger-state/bcs'
 *
 * const codec = codecOf({ kind: 'vector', element: { kind: 'u64' } })
 * const bytes = codec.jsonToBytes(parseJson('["18446744073709551615"]'))
 * console.log(codec.bytesToJson(bytes)) // ["18446744073709551615"]
 * ```
 */
export function codecOf(layout: Layout, traits?: LayoutTraits): Codec {
  let json: JsonDecoder | undefined
  let fromJson: ((value: JsonValue) => Uint8Array) | undefined
  return {
    layout,
    bytesToJson(bytes, maxBytes) {
      json ??= createJsonDecoder(layout, traits?.depth)
      return json.toText(bytes, maxBytes)
    },
    bytesToJsonUtf8(bytes, maxBytes) {
      json ??= createJsonDecoder(layout, traits?.depth)
      return json.toUtf8(bytes, maxBytes)
    },
    jsonToBytes(value) {
      fromJson ??= createJsonEncoder(layout, traits)
      return fromJson(value)
    },
  }
}
