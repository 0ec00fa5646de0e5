import { expectElements, expectVectorBytes, SLOT_BYTES } from '../budget/meter.js'
import { inSteps } from '../sliced-work.js'
import { ByteVector } from '../values/byte-vector.js'
import { StructValue, type Value, type VectorValue } from '../values/value.js'
import { indexOf, itemsOf, setValueAt, valueAt } from './arguments.js'
import type { Native, NativeContext } from './native.js'

const FLAG = 80
const SWAP_UNAVAILABLE = 0xd_0001
const MOVE_RANGE_UNAVAILABLE = 0xd_0002
const OUT_OF_BOUNDS = 1

const ELEMENTS_PER_INSTRUCTION = 4

/** Variants of `0x1::cmp::Ordering`. */
const ORDERING = { less: 0, equal: 1, greater: 2 } as const

/** Elements that are moved at once, in a fraction of a millisecond. */
const MOVED_AT_ONCE = 8_192

/** A part of a vector, and the index of another vector that it is moved to. */
interface MovedRange {
  readonly start: number
  readonly count: number
  readonly at: number
}

/** Moves a range in slices. It checks the range first: the vectors change, and the native may run again meanwhile. */
function* moveRange(context: NativeContext, from: Value, to: Value, range: MovedRange): Generator<void, void, void> {
  const { start, count, at } = range
  const expectBounds = (
    fromLength: number,
    toLength: number,
    elementBytes: number,
    expectLength: (length: number) => void,
  ): void => {
    if (start + count > fromLength || at > toLength) context.abort(OUT_OF_BOUNDS)
    expectLength(toLength + count)
    context.charge(10 + (fromLength - start + toLength - at) / ELEMENTS_PER_INSTRUCTION)
    context.chargeBytes(count * elementBytes)
  }
  if (from instanceof ByteVector && to instanceof ByteVector) {
    expectBounds(from.length, to.length, 1, expectVectorBytes)
    const moved = from.splice(start, count, new Uint8Array(0))
    if (moved.length + to.length > MOVED_AT_ONCE) yield
    to.splice(at, 0, moved)
    return
  }
  expectBounds(itemsOf(from).length, itemsOf(to).length, SLOT_BYTES, expectElements)
  context.chargeBytes(SLOT_BYTES * (to as VectorValue).reserve(count))
  yield* moveItems(itemsOf(from), itemsOf(to), range)
}

/** Moves elements of an array to an index of another one. No array ever has empty places. */
function* moveItems<T>(from: T[], to: T[], { start, count, at }: MovedRange): Generator<void, void, void> {
  if (from === to) throw new TypeError('a range of a vector is moved to the vector itself')
  const moved: T[] = []
  const { length } = to
  /** Number of times each step is done; steps are numbered from 0. */
  const steps: readonly (readonly [times: number, step: (index: number) => void])[] = [
    [count, (index) => moved.push(from[start + index]!)],
    [
      from.length - start - count,
      (index) => {
        from[start + index] = from[start + count + index]!
      },
    ],
    [
      1,
      () => {
        from.length -= count
      },
    ],
    [count, (index) => to.push(moved[index]!)],
    [
      length - at,
      (index) => {
        to[length - 1 - index + count] = to[length - 1 - index]!
      },
    ],
    [
      count,
      (index) => {
        to[at + index] = moved[index]!
      },
    ],
  ]
  let left = MOVED_AT_ONCE
  for (const [times, step] of steps) {
    for (let index = 0; index < times; index++) {
      if (left-- === 0) {
        left = MOVED_AT_ONCE
        yield
      }
      step(index)
    }
  }
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
    const range = { start: indexOf(removal), count: indexOf(length), at: indexOf(insertion) }
    const [from, to] = [valueAt(fromReference), valueAt(toReference)]
    context.inSlices(() => inSteps(moveRange(context, from, to, range)))
    return []
  },
  '0x1::cmp::compare': (context, [left, right]) => {
    const order = context.compare(left!, right!)
    return [new StructValue(order < 0 ? ORDERING.less : order > 0 ? ORDERING.greater : ORDERING.equal, [])]
  },
}
