import type { Meter } from '../budget/meter.js'
import { STATUS } from '../faults/status.js'
import { VmFault } from '../faults/vm-fault.js'
import { ByteVector } from './byte-vector.js'
import { UnfinishedParts } from './unfinished-parts.js'
import { ClosureValue, StructValue, type Value, VectorValue } from './value.js'

/** Most levels of a value; its leaves count as a level. */
export const MAX_VALUE_DEPTH = 128

export function valueTooDeep(): VmFault {
  return new VmFault(STATUS.VM_MAX_VALUE_DEPTH_REACHED)
}

/** The parts, starting at an index, that a value still shares with its copy. */
interface SharedParts {
  readonly parts: Value[]
  readonly from: number
  readonly depth: number
}

/** Copies values, large ones in slices. A copy is whole once `isUnfinished` is false. */
export class ValueCopier {
  readonly #meter: Meter
  readonly #unfinished: UnfinishedParts<SharedParts>

  constructor(meter: Meter) {
    this.#meter = meter
    this.#unfinished = new UnfinishedParts(meter)
  }

  get isUnfinished(): boolean {
    return this.#unfinished.length > 0
  }

  /**
   * A copy that shares nothing that can change. A reference is returned as it is. Neither the value nor the copy may
   * change until the copy is whole.
   * @throws VmFault
   */
  copy(value: Value): Value {
    if (typeof value !== 'object') return value
    this.#unfinished.beginSlice()
    const copy = this.#copy(value, 1)
    this.#unfinished.endSlice()
    return copy
  }

  /**
   * Copies the next slice.
   * @throws VmFault
   */
  continue(): void {
    this.#unfinished.beginSlice()
    for (let next = this.#unfinished.take(); next; next = this.#unfinished.take()) {
      this.#copyParts(next.parts, next.from, next.depth)
    }
    this.#unfinished.endSlice()
  }

  #copy(value: Value, depth: number): Value {
    if (depth > MAX_VALUE_DEPTH) throw valueTooDeep()
    if (typeof value !== 'object') return value
    if (value instanceof StructValue) return new StructValue(value.variant, this.#copyAll(value.fields, depth + 1))
    if (value instanceof ByteVector) {
      this.#meter.chargeByteVector(value.length)
      return value.copy()
    }
    if (value instanceof VectorValue) return new VectorValue(this.#copyAll(value.items, depth + 1, true))
    if (value instanceof ClosureValue) {
      const { target, mask, captured, layouts } = value
      return new ClosureValue(target, mask, this.#copyAll(captured, depth + 1), layouts)
    }
    return value
  }

  /** Copies all values. The elements of a vector have one type: if the first one has no parts, none has. */
  #copyAll(values: readonly Value[], depth: number, isVector = false): Value[] {
    this.#meter.chargeContainer(values.length)
    if (depth > MAX_VALUE_DEPTH && values.length > 0) throw valueTooDeep()
    const copy = values.slice()
    if (!isVector || typeof copy[0] === 'object') this.#copyParts(copy, 0, depth)
    return copy
  }

  #copyParts(parts: Value[], from: number, depth: number): void {
    for (let at = from; at < parts.length; at++) {
      const value = parts[at]!
      if (typeof value !== 'object') continue
      if (this.#unfinished.isSliceSpent) {
        this.#unfinished.defer({ parts, from: at, depth })
        return
      }
      parts[at] = this.#copy(value, depth)
    }
  }
}
