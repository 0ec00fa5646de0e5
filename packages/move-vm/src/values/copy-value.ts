import type { Meter } from '../budget/meter.js'
import { STATUS } from '../faults/status.js'
import { VmFault } from '../faults/vm-fault.js'
import { ByteVector } from './byte-vector.js'
import { ClosureValue, StructValue, type Value, VectorValue } from './value.js'

/** Levels of a value; its leaves count. */
export const MAX_VALUE_DEPTH = 128

export function valueTooDeep(): VmFault {
  return new VmFault(STATUS.VM_MAX_VALUE_DEPTH_REACHED)
}

/** A copy that shares nothing that can change; of a reference, the reference. @throws VmFault */
export function copyValue(value: Value, meter: Meter, depth = 1): Value {
  if (depth > MAX_VALUE_DEPTH) throw valueTooDeep()
  if (typeof value !== 'object') return value
  if (value instanceof StructValue) return new StructValue(value.variant, copyAll(value.fields, meter, depth + 1))
  if (value instanceof ByteVector) {
    meter.chargeContainer(0)
    meter.chargeBytes(value.length)
    return value.copy()
  }
  if (value instanceof VectorValue) return new VectorValue(copyAll(value.items, meter, depth + 1, true))
  if (value instanceof ClosureValue) {
    const { target, mask, captured, layouts } = value
    return new ClosureValue(target, mask, copyAll(captured, meter, depth + 1), layouts)
  }
  return value
}

/** The elements of a vector are of one type: where the first one has no parts, none has. */
function copyAll(values: readonly Value[], meter: Meter, depth: number, isVector = false): Value[] {
  meter.chargeContainer(values.length)
  if (depth > MAX_VALUE_DEPTH && values.length > 0) throw valueTooDeep()
  const copy = values.slice()
  if (isVector && typeof copy[0] !== 'object') return copy
  for (let at = 0; at < copy.length; at++) {
    const value = copy[at]!
    if (typeof value === 'object') copy[at] = copyValue(value, meter, depth)
  }
  return copy
}
