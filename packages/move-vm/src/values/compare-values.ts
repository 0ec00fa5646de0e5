import { compareBytes } from '@ledger-state/core/bytes'
import type { Meter } from '../budget/meter.js'
import { unverifiedCode } from '../faults/vm-fault.js'
import { PARTS_AT_ONCE, type SlicedWork } from '../sliced-work.js'
import { ByteVector } from './byte-vector.js'
import { compareTexts, compareTypes } from './compare-types.js'
import { MAX_VALUE_DEPTH, valueTooDeep } from './copy-value.js'
import { readReference } from './reference-access.js'
import { UnfinishedParts } from './unfinished-parts.js'
import { ByteReference, ClosureValue, Reference, StructValue, type Value, VectorValue } from './value.js'

/** Bytes that are charged for each part. */
const PART_BYTES = 8
/** Parts that a slice of an order test compares. */
const PARTS_OF_SLICE = 2_048

/** The parts of two values starting at an index; all earlier parts are equal. */
interface PartPairs {
  readonly a: readonly Value[]
  readonly b: readonly Value[]
  readonly from: number
  readonly depth: number
}

/** Compares two values, large ones in slices. The answer `true` is final once `isUnfinished` is false. */
export class EqualityTest {
  readonly #meter: Meter
  readonly #unfinished: UnfinishedParts<PartPairs>

  constructor(meter: Meter) {
    this.#meter = meter
    this.#unfinished = new UnfinishedParts(meter)
  }

  get isUnfinished(): boolean {
    return this.#unfinished.length > 0
  }

  /**
   * Begins to compare two values of one type, or the targets of two references. Returns whether the compared parts are
   * equal. They must not change until the test has ended.
   * @throws VmFault
   */
  begin(a: Value, b: Value): boolean {
    this.#unfinished.beginSlice()
    return this.#endSlice(this.#areEqual(a, b, 1))
  }

  /**
   * Compares the next slice.
   * @throws VmFault
   */
  continue(): boolean {
    this.#unfinished.beginSlice()
    for (let next = this.#unfinished.take(); next; next = this.#unfinished.take()) {
      if (!this.#partsEqual(next.a, next.b, next.from, next.depth)) return this.#endSlice(false)
    }
    return this.#endSlice(true)
  }

  #endSlice(isEqual: boolean): boolean {
    if (isEqual) this.#unfinished.endSlice()
    else this.#unfinished.clear()
    return isEqual
  }

  #areEqual(a: Value, b: Value, depth: number): boolean {
    if (depth > MAX_VALUE_DEPTH) throw valueTooDeep()
    if (typeof a !== 'object' || typeof b !== 'object') return a === b
    if (isReference(a) && isReference(b)) return this.#areEqual(readReference(a), readReference(b), depth)
    if (a instanceof ByteVector && b instanceof ByteVector) {
      if (a.length !== b.length) return false
      this.#meter.chargeBytes(a.length)
      return compareBytes(a.view(), b.view()) === 0
    }
    if (a instanceof StructValue && b instanceof StructValue) {
      return a.variant === b.variant && this.#allEqual(a.fields, b.fields, depth)
    }
    if (a instanceof VectorValue && b instanceof VectorValue) return this.#allEqual(a.items, b.items, depth)
    if (a instanceof ClosureValue && b instanceof ClosureValue) {
      return a.mask === b.mask && haveSameTarget(a, b, this.#meter) && this.#allEqual(a.captured, b.captured, depth)
    }
    throw unverifiedCode('a comparison of values of different types')
  }

  #allEqual(a: readonly Value[], b: readonly Value[], depth: number): boolean {
    if (a.length !== b.length) return false
    this.#meter.chargeBytes(PART_BYTES * (1 + a.length))
    return this.#partsEqual(a, b, 0, depth)
  }

  #partsEqual(a: readonly Value[], b: readonly Value[], from: number, depth: number): boolean {
    for (let at = from; at < a.length; at++) {
      if (this.#unfinished.isSliceSpent || at - from >= PARTS_AT_ONCE) {
        this.#unfinished.spendSlice()
        this.#unfinished.defer({ a, b, from: at, depth })
        return true
      }
      if (!this.#areEqual(a[at]!, b[at]!, depth + 1)) return false
    }
    return true
  }
}

/** Compares two values of one type in the order of `cmp::compare`, large ones in slices: below 0, 0, or above 0. */
export class OrderTest implements SlicedWork<number> {
  readonly #meter: Meter
  readonly #unfinished: UnfinishedParts<PartPairs>
  #root: { readonly a: Value; readonly b: Value } | undefined

  constructor(a: Value, b: Value, meter: Meter) {
    this.#meter = meter
    this.#unfinished = new UnfinishedParts(meter, PART_BYTES * PARTS_OF_SLICE)
    this.#root = { a, b }
  }

  continue(): { readonly result: number } | undefined {
    this.#unfinished.beginSlice()
    const order = this.#compareNext()
    if (order !== 0) return { result: order }
    this.#unfinished.endSlice()
    return this.#unfinished.length > 0 ? undefined : { result: 0 }
  }

  /** The order as far as this slice compares: 0 if it finds no difference. */
  #compareNext(): number {
    const root = this.#root
    this.#root = undefined
    if (root) return this.#compare(root.a, root.b, 1)
    for (let next = this.#unfinished.take(); next; next = this.#unfinished.take()) {
      const order = this.#compareParts(next)
      if (order !== 0) return order
    }
    return 0
  }

  #compare(a: Value, b: Value, depth: number): number {
    if (depth > MAX_VALUE_DEPTH) throw valueTooDeep()
    if (typeof a !== 'object' || typeof b !== 'object') return a === b ? 0 : a < b ? -1 : 1
    if (isReference(a) && isReference(b)) return this.#compare(readReference(a), readReference(b), depth)
    if (a instanceof ByteVector && b instanceof ByteVector) {
      this.#meter.chargeBytes(Math.min(a.length, b.length))
      return compareBytes(a.view(), b.view())
    }
    if (a instanceof StructValue && b instanceof StructValue) {
      return a.variant - b.variant || this.#compareAll(a.fields, b.fields, depth)
    }
    if (a instanceof VectorValue && b instanceof VectorValue) return this.#compareAll(a.items, b.items, depth)
    if (a instanceof ClosureValue && b instanceof ClosureValue) {
      return compareTargets(a, b, this.#meter) || this.#compareAll(a.captured, b.captured, depth)
    }
    throw unverifiedCode('a comparison of values of different types')
  }

  #compareAll(a: readonly Value[], b: readonly Value[], depth: number): number {
    this.#meter.chargeBytes(PART_BYTES * (1 + Math.min(a.length, b.length)))
    return this.#compareParts({ a, b, from: 0, depth })
  }

  #compareParts({ a, b, from, depth }: PartPairs): number {
    const shared = Math.min(a.length, b.length)
    for (let at = from; ; at++) {
      // The lengths count after all shared parts. Some parts may be left to a later slice.
      if (this.#unfinished.isSliceSpent || at - from >= PARTS_AT_ONCE) {
        this.#unfinished.spendSlice()
        this.#unfinished.defer({ a, b, from: at, depth })
        return 0
      }
      if (at >= shared) return a.length - b.length
      const order = this.#compare(a[at]!, b[at]!, depth + 1)
      if (order !== 0) return order
    }
  }
}

/** Whether two closures call the same function. Equal types are one object. */
function haveSameTarget({ target: a }: ClosureValue, { target: b }: ClosureValue, meter: Meter): boolean {
  if (a === b) return true
  if (a.typeArguments.length !== b.typeArguments.length) return false
  meter.chargeBytes(a.module.length + a.name.length + PART_BYTES * a.typeArguments.length)
  if (a.address !== b.address || a.module !== b.module || a.name !== b.name) return false
  return a.typeArguments.every((type, at) => type === b.typeArguments[at])
}

/** Compares by module, name, and type arguments. */
function compareTargets({ target: a }: ClosureValue, { target: b }: ClosureValue, meter: Meter): number {
  if (a === b) return 0
  meter.chargeBytes(a.module.length + a.name.length)
  const order = compareTexts(a.address, b.address) || compareTexts(a.module, b.module) || compareTexts(a.name, b.name)
  return order || compareTypes(a.typeArguments, b.typeArguments, meter)
}

function isReference(value: Value): value is Reference | ByteReference {
  return value instanceof Reference || value instanceof ByteReference
}
