export { DEFAULT_BUDGET, type ViewBudget, type ViewUsage } from './budget/view-budget.js'
export type { Compute, ComputeTask } from './compute-task.js'
export type { ViewFault } from './faults/view-fault.js'
export { type ComputeTaskName, runComputeTask } from './natives/compute-tasks.js'
export type {
  FunctionName,
  FunctionSignature,
  Globals,
  Native,
  NativeContext,
  NativeExtension,
  NativeJump,
  TypeLayout,
  TypeLayoutField,
  TypeLayoutVariant,
} from './natives/native.js'
export { NATIVES } from './natives/native-table.js'
export { NOT_LOADED, type TraceRead, type ViewState } from './state/view-state.js'
export { LAYOUT, type RuntimeLayout } from './types/runtime-layout.js'
export type { FunctionType, PlainType, ReferenceType, StructType, Type, VectorType } from './types/type.js'
export { ByteVector } from './values/byte-vector.js'
export {
  ByteReference,
  type ClosureTarget,
  ClosureValue,
  Reference,
  type Slot,
  StructValue,
  type Value,
  VectorValue,
} from './values/value.js'
export { createVm, type Vm, type VmCache, type VmOptions } from './view/create-vm.js'
export type {
  ViewCall,
  ViewOptions,
  ViewOutcome,
  ViewProgress,
  ViewResult,
  ViewRun,
} from './view/view-call.js'
