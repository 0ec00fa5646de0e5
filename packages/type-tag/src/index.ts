export { MAX_TYPE_NESTING, MAX_TYPE_TEXT_LENGTH, parseStructTag, parseTypeTag } from './parse-type-tag.js'
export {
  type FunctionSlot,
  type FunctionTag,
  isStructTag,
  PRIMITIVE_TYPES,
  type PrimitiveTag,
  type PrimitiveType,
  primitiveTag,
  type StructTag,
  type TypeTag,
  typeTagsEqual,
  typeTagToText,
  type VectorTag,
} from './type-tag.js'
export { readStructTag, readTypeTag, writeStructTag, writeTypeTag } from './type-tag-bcs.js'
