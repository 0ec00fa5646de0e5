export { layoutToBcsType } from './bcs-type.js'
export { createJsonDecoder, MAX_JSON_TEXT_LENGTH } from './json-decoder.js'
export { createJsonEncoder } from './json-encoder.js'
export {
  isJsonObject,
  JsonNumber,
  type JsonObject,
  type JsonValue,
  jsonTypeName,
  jsonValueToText,
  MAX_JSON_DEPTH,
  parseJson,
} from './json-value.js'
export { INTEGER_WIDTH, type Layout, type LayoutField, type LayoutVariant, MAX_LAYOUT_DEPTH } from './layout.js'
