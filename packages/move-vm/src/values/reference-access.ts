import { unverifiedCode, type VmFault } from '../faults/vm-fault.js'
import { ByteReference, Reference, type Value } from './value.js'

/** The value that a reference points at. @throws VmFault if there is none any more */
export function readReference(reference: Value): Value {
  if (reference instanceof Reference) {
    const value = reference.slots[reference.index]
    if (value === undefined) throw danglingReference()
    return value
  }
  if (reference instanceof ByteReference && reference.index < reference.vector.length) {
    return reference.vector.at(reference.index)
  }
  throw danglingReference()
}

/** Replaces the value that a reference points at. @throws VmFault if there is none any more */
export function writeReference(reference: Value, value: Value): void {
  if (reference instanceof Reference && reference.index < reference.slots.length) {
    reference.slots[reference.index] = value
  } else if (reference instanceof ByteReference && reference.index < reference.vector.length) {
    reference.vector.set(reference.index, value as number)
  } else throw danglingReference()
}

function danglingReference(): VmFault {
  return unverifiedCode('a reference to a value that is gone')
}
