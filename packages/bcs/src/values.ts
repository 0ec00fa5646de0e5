export type { MoveClosure, MoveMapEntry, MoveStruct, MoveValue, MoveVariant } from './values/move-value.js'
export { createValueCodec, type ValueCodec } from './values/value-codec.js'
