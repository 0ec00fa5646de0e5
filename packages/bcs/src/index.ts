export { bcsTypeToCodec, layoutToBcsType } from './bcs-type.js'
export { type Codec, codecOf } from './codec.js'
export { MAX_JSON_TEXT_BYTES } from './json-text-writer.js'
export {
  isJsonObject,
  JsonNumber,
  JsonObject,
  type JsonValue,
  jsonTypeName,
  jsonValueToText,
  MAX_JSON_DEPTH,
  type ParseJsonOptions,
  parseJson,
} from './json-value.js'
export { INTEGER_WIDTH, type Layout, type LayoutField, type LayoutVariant, MAX_LAYOUT_DEPTH } from './layout.js'
export type { MoveClosure, MoveMapEntry, MoveStruct, MoveValue, MoveVariant } from './move-value.js'
