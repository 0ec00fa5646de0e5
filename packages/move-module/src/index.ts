// Groups are read with type tags only, so `type-tag` has the reader; it is exported here too, with modules.
export {
  findGroupMember,
  findGroupMembers,
  type GroupMember,
  readGroupMembers,
  readGroupMembersInSteps,
  readResourceGroup,
  readResourceGroupInSteps,
  skipTag,
} from '@ledger-state/type-tag'
export {
  type AssembledConstant,
  type AssembledField,
  type AssembledFunction,
  type AssembledStruct,
  type Assembly,
  type AssemblyLine,
  assembleModule,
  type Callee,
  type ImportedStruct,
} from './assemble-module.js'
export type { ModuleErrorCode } from './errors.js'
export { instructionToDebugText } from './instruction-text.js'
export {
  type GetModule,
  type LayoutOptions,
  layoutOf,
  MAX_LAYOUT_NODES,
  type ResolvedLayout,
  resolveLayout,
} from './layout-of.js'
export {
  type FunctionAbi,
  type ModuleAbi,
  moduleAbi,
  moduleAbiToJson,
  type StructAbi,
  scriptAbi,
  type TypeParameterAbi,
} from './module-abi.js'
export type {
  CodedFunction,
  Constant,
  ErrorDescription,
  FieldHandle,
  FunctionCode,
  FunctionHandle,
  Instantiation,
  Instructions,
  ModuleCode,
  StructHandle,
  VariantFieldHandle,
  VariantHandle,
} from './module-code.js'
export {
  ABILITY,
  type FieldDefinition,
  type FunctionDefinition,
  type ModuleId,
  type ModuleInterface,
  type MoveModule,
  type ScriptInterface,
  type SignatureToken,
  type StructDefinition,
  type TypeParameter,
  type VariantDefinition,
  type Visibility,
} from './module-definition.js'
export { moduleHeapSize } from './module-heap-size.js'
export { byOpcode, type OpcodeName, opcodeNameOf } from './opcodes.js'
export { readModule, readModuleCode, readModuleCodeInSteps, readModuleInterface, readScript } from './read-module.js'
export { isSigner, substitute } from './substitute.js'
export { type FindModule, findFields, isTable, type StructFields, ValueWalker } from './value-walker.js'
export { writeModule } from './write-module.js'
