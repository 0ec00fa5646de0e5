export type { TypeTagErrorCode } from './errors.js'
export { MAX_TYPE_NESTING, MAX_TYPE_TEXT_LENGTH, parseStructTag, parseTypeTag } from './parse-type-tag.js'
export {
  findGroupMember,
  findGroupMembers,
  type GroupMember,
  readGroupMembers,
  readGroupMembersInSteps,
  readResourceGroup,
  readResourceGroupInSteps,
  skipTag,
} from './resource-group.js'
export {
  accountKeyPrefix,
  decodeStateKey,
  encodeStateKey,
  isModuleKey,
  moduleKey,
  readStateKey,
  resourceGroupKey,
  resourceKey,
  STATE_KEY_ADDRESS_AT,
  type StateKey,
  stateKeyAt,
  tableItemKey,
  tableItemKeyOf,
  tableKeyPrefix,
  tagOfResourceKey,
} from './state-key.js'
export {
  encodeStateValue,
  readStateValue,
  readValueMetadata,
  type StateValue,
  type ValueMetadata,
} from './state-value.js'
export { coinStoreValue, primaryStoreBalance } from './stored-balance.js'
export {
  FIXED_LENGTHS,
  type FunctionSlot,
  type FunctionTag,
  INTEGER_TYPES,
  type IntegerType,
  isStructTag,
  PRIMITIVE_TYPES,
  type PrimitiveTag,
  type PrimitiveType,
  primitiveTag,
  type StructTag,
  type TypeTag,
  typeTagSize,
  typeTagsEqual,
  typeTagToText,
  type VectorTag,
} from './type-tag.js'
export {
  readName,
  readStructTag,
  readTypeTag,
  skipStructTag,
  skipTypeTag,
  structTagToBytes,
  TYPE_TAG_VARIANTS,
  writeStructTag,
  writeTypeTag,
} from './type-tag-bcs.js'
export { typeTagHeapSize } from './type-tag-heap-size.js'
