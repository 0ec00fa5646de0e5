// The BCS cursor is defined in core, because type tags need it too.
export { ByteReader, ByteWriter, MAX_SEQUENCE_LENGTH } from '@ledger-state/core'
export type { BcsErrorCode } from './errors.js'
export { type Codec, codecOf } from './json/codec.js'
export { JsonTextWriter, MAX_JSON_TEXT_BYTES } from './json/json-text-writer.js'
export {
  isJsonObject,
  type JsonMember,
  JsonNumber,
  JsonObject,
  type JsonValue,
  jsonTypeName,
  jsonValueToText,
} from './json/json-value.js'
export {
  type JsonOptions,
  type JsonOutline,
  type JsonRange,
  MAX_JSON_DEPTH,
  parseJson,
  parseJsonOutline,
} from './json/parse-json.js'
export { INTEGER_WIDTH, type Layout, type LayoutField, type LayoutVariant, MAX_LAYOUT_DEPTH } from './layout/layout.js'
export { expectLayoutDepth, type LayoutTraits, layoutSize, type UnwritableKind } from './layout/layout-size.js'
