import { ByteVector } from '../values/byte-vector.js'
import { StructValue } from '../values/value.js'
import { indexOf, itemsOf, setValueAt, valueAt } from './arguments.js'
import type { Native } from './native.js'

const FLAG = 80
const SWAP_UNAVAILABLE = 0xd_0001
const MOVE_RANGE_UNAVAILABLE = 0xd_0002
const OUT_OF_BOUNDS = 1

const ELEMENTS_PER_INSTRUCTION = 4
const ELEMENT_BYTES = 8

/** Variants of `0x1::cmp::Ordering`. */
const ORDERING = { less: 0, equal: 1, greater: 2 } as const

/** Moves elements of an array to an index of another. */
function moveItems<T>(from: T[], start: number, count: number, to: T[], at: number): void {
  const moved = from.splice(start, count)
  const behind = to.splice(at)
  for (const item of moved) to.push(item)
  for (const item of behind) to.push(item)
}

export const MEMORY_NATIVES: Readonly<Record<string, Native>> = {
  '0x1::mem::swap': (context, [left, right]) => {
    if (!context.isFeatureOn(FLAG)) context.abort(SWAP_UNAVAILABLE)
    context.charge(5)
    const value = valueAt(left)
    setValueAt(left, valueAt(right))
    setValueAt(right, value)
    return []
  },
  '0x1::vector::move_range': (context, [fromReference, removal, length, toReference, insertion]) => {
    if (!context.isFeatureOn(FLAG)) context.abort(MOVE_RANGE_UNAVAILABLE)
    const from = valueAt(fromReference)
    const to = valueAt(toReference)
    const start = indexOf(removal)
    const count = indexOf(length)
    const at = indexOf(insertion)
    const expectBounds = (fromLength: number, toLength: number, elementBytes: number): void => {
      if (start + count > fromLength || at > toLength) context.abort(OUT_OF_BOUNDS)
      context.charge(10 + (fromLength - start + toLength - at) / ELEMENTS_PER_INSTRUCTION)
      context.chargeBytes(count * elementBytes)
    }
    if (from instanceof ByteVector && to instanceof ByteVector) {
      expectBounds(from.length, to.length, 1)
      to.splice(at, 0, from.splice(start, count, new Uint8Array(0)))
    } else {
      expectBounds(itemsOf(from).length, itemsOf(to).length, ELEMENT_BYTES)
      moveItems(itemsOf(from), start, count, itemsOf(to), at)
    }
    return []
  },
  '0x1::cmp::compare': (context, [left, right]) => {
    const order = context.compare(left!, right!)
    return [new StructValue(order < 0 ? ORDERING.less : order > 0 ? ORDERING.greater : ORDERING.equal, [])]
  },
}
