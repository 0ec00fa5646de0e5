import type { Steps } from '@ledger-state/core'
import type { Layout } from '../layout/layout.js'
import type { LayoutTraits } from '../layout/layout-size.js'
import { createJsonDecoder, type JsonDecoder } from './json-decoder.js'
import { createJsonEncoder } from './json-encoder.js'
import { appendIfShort, printInSteps } from './json-in-steps.js'
import { createJsonTextEncoder } from './json-text-encoder.js'
import type { JsonTextWriter } from './json-text-writer.js'
import type { JsonValue } from './json-value.js'
import { parseJson } from './parse-json.js'

/**
 * Reads and writes the JSON of values of one layout. Bytes must encode exactly one value. Otherwise the error is
 * `invalid_bcs`, with the path of the fault in `fields.path` and its byte offset in `fields.offset`.
 */
export interface Codec {
  readonly layout: Layout
  /**
   * Prints a value as compact JSON, as the reference does; at most `maxBytes` of it (by default `MAX_JSON_TEXT_BYTES`).
   * @throws `invalid_bcs`; `type_too_large` for a longer text
   */
  bytesToJson(bytes: Uint8Array, maxBytes?: number): string
  /** Same as `bytesToJson`, in steps if the value is long. */
  bytesToJsonInSteps(bytes: Uint8Array): Steps<string>
  /** Same as `bytesToJson`, as UTF-8 in a buffer that the caller owns. */
  bytesToJsonUtf8(bytes: Uint8Array, maxBytes?: number): Uint8Array
  /** Same as `bytesToJsonUtf8`, in steps if the value is long. */
  bytesToJsonUtf8InSteps(bytes: Uint8Array): Steps<Uint8Array>
  /**
   * Appends the JSON of a short value to a text, of which an error leaves nothing. Returns false for a value that is to be
   * printed in steps.
   * @throws `invalid_bcs`
   */
  appendJson(bytes: Uint8Array, out: JsonTextWriter): boolean
  /**
   * Encodes a JSON value in BCS. On Node.js, short bytes lie in its pool of memory, as those of `Buffer.from`: `buffer` has
   * others, too.
   * @throws `invalid_value`, `unsupported_type`
   */
  jsonToBytes(value: JsonValue): Uint8Array
  /**
   * Encodes a JSON text in BCS: the same as `jsonToBytes(parseJson(text))`, and faster for compact text with members in
   * the order of the fields, as the codec prints them.
   * @throws `invalid_json`, `invalid_value`, `unsupported_type`
   */
  jsonTextToBytes(text: string): Uint8Array
}

/**
 * Creates a codec for a layout; each call creates a new one. Each direction is compiled at its first use. `traits` are
 * the traits of the layout, if the caller knows them.
 * @example
 * ```ts
 * import { codecOf } from '@ledger-state/bcs'
 *
 * const codec = codecOf({ kind: 'vector', element: { kind: 'u64' } })
 * const bytes = codec.jsonTextToBytes('["18446744073709551615"]')
 * console.log(codec.bytesToJson(bytes)) // ["18446744073709551615"]
 * ```
 */
export function codecOf(layout: Layout, traits?: LayoutTraits): Codec {
  let json: JsonDecoder | undefined
  let fromText: ((text: string) => Uint8Array | undefined) | undefined
  let fromJson: ((value: JsonValue) => Uint8Array) | undefined
  const bytesToJson = (bytes: Uint8Array, maxBytes?: number): string => {
    json ??= createJsonDecoder(layout, traits?.depth)
    return json.toText(bytes, maxBytes)
  }
  const bytesToJsonUtf8 = (bytes: Uint8Array, maxBytes?: number): Uint8Array => {
    json ??= createJsonDecoder(layout, traits?.depth)
    return json.toUtf8(bytes, maxBytes)
  }
  return {
    layout,
    bytesToJson,
    bytesToJsonInSteps: (bytes) => printInSteps(layout, bytes, { atOnce: bytesToJson, take: (out) => out.takeText() }),
    bytesToJsonUtf8,
    bytesToJsonUtf8InSteps: (bytes) =>
      printInSteps(layout, bytes, { atOnce: bytesToJsonUtf8, take: (out) => out.takeBytes() }),
    appendJson(bytes, out) {
      json ??= createJsonDecoder(layout, traits?.depth)
      return appendIfShort(json, bytes, out)
    },
    jsonToBytes(value) {
      fromJson ??= createJsonEncoder(layout, traits)
      return fromJson(value)
    },
    jsonTextToBytes(text) {
      fromText ??= createJsonTextEncoder(layout, traits)
      return fromText(text) ?? this.jsonToBytes(parseJson(text))
    },
  }
}
