import { type ByteReader, isLedgerStateError } from '@ledger-state/core'
import { ADDRESS_BYTES, type Meter } from '../budget/meter.js'
import { PARTS_AT_ONCE, type SlicedWork } from '../sliced-work.js'
import { LAYOUT, type RuntimeLayout } from '../types/runtime-layout.js'
import { ByteVector } from '../values/byte-vector.js'
import { MAX_VALUE_DEPTH } from '../values/copy-value.js'
import { UnfinishedParts } from '../values/unfinished-parts.js'
import {
  type ClosureTarget,
  ClosureValue,
  roomAfterPush,
  StructValue,
  type Value,
  VectorValue,
} from '../values/value.js'
import { bigintBytes, readInteger } from './integer-codec.js'

/** The parts of a function value before its captured values. */
export interface ClosureHead {
  readonly target: ClosureTarget
  readonly mask: bigint
  readonly capturedCount: number
}

/** Reads the parts of function values that are not values. They need the types of the run, which a layout does not have. */
export interface ClosureReader {
  readHead(reader: ByteReader): ClosureHead
  /** Reads the layout of a captured value at a depth. */
  readLayout(reader: ByteReader, depth: number): RuntimeLayout
}

/** Most parts of a value whose list has its whole length at once. */
const MOST_AT_ONCE = 256
/** A part of it is an array that takes no more memory than its elements do. */
const UNREAD: readonly Value[] = new Array<Value>(MOST_AT_ONCE).fill(false)

/** Parts of a value that are read into a list. A vector has one layout; each captured value follows its layout. */
interface ReadParts {
  readonly kind: 'vector' | 'struct' | 'closure'
  readonly values: Value[]
  /** Number of parts that are read. */
  read: number
  readonly layouts: RuntimeLayout[] | readonly RuntimeLayout[]
  readonly count: number
  readonly depth: number
}

/** Decodes bytes, in slices if the value is large. Nobody may change the bytes: the value shares them. */
export class ValueDecoder implements SlicedWork<Value | undefined> {
  readonly #meter: Meter
  readonly #closures: ClosureReader
  readonly #reader: ByteReader
  readonly #unfinished: UnfinishedParts<ReadParts>
  #layout: RuntimeLayout | undefined
  #value: Value | undefined

  /** @param reader of all bytes of the value */
  constructor(reader: ByteReader, layout: RuntimeLayout, meter: Meter, closures: ClosureReader) {
    this.#meter = meter
    this.#closures = closures
    this.#reader = reader
    this.#layout = layout
    this.#unfinished = new UnfinishedParts(meter)
  }

  /**
   * Decodes the next slice. The result is undefined if the bytes are not a value of the layout.
   * @throws VmFault if the budget is exhausted
   */
  continue(): { readonly result: Value | undefined } | undefined {
    const layout = this.#layout
    if (layout) this.#meter.chargeBytes(this.#reader.remaining)
    this.#unfinished.beginSlice()
    try {
      if (layout) {
        this.#layout = undefined
        this.#value = this.#read(layout, 1)
      } else for (let next = this.#unfinished.take(); next; next = this.#unfinished.take()) this.#readParts(next)
    } catch (error) {
      if (isLedgerStateError(error, 'invalid_bcs')) return { result: undefined }
      throw error
    }
    this.#unfinished.endSlice()
    if (this.#unfinished.length > 0) return undefined
    return { result: this.#reader.remaining === 0 ? this.#value : undefined }
  }

  #read(layout: RuntimeLayout, depth: number): Value {
    const reader = this.#reader
    switch (layout.kind) {
      case LAYOUT.bool:
        return reader.readBool()
      case LAYOUT.address:
        return this.#readAddress()
      case LAYOUT.signer:
        this.#meter.chargeContainer(1)
        return new StructValue(0, [this.#readAddress()])
      case LAYOUT.bytes: {
        const length = reader.readLength()
        const start = reader.skip(length)
        this.#meter.chargeByteVector(length)
        return new ByteVector(reader.bytes, start, length)
      }
      case LAYOUT.vector: {
        const count = reader.readLength()
        const room = count <= MOST_AT_ONCE ? count : roomAfterPush(count)
        // Charged before the allocation, so that the budget bounds it for elements of no bytes, too.
        this.#meter.chargeContainer(count, room)
        const values = listOf(count)
        this.#readParts({ kind: 'vector', values, read: 0, layouts: layout.parts, count, depth })
        return new VectorValue(values, room)
      }
      case LAYOUT.struct:
        return new StructValue(0, this.#readFields(layout.parts, depth))
      case LAYOUT.enum: {
        const start = reader.offset
        const variant = reader.readUleb128()
        const fields = layout.variants[variant]
        if (!fields) throw reader.fault(`variant ${variant} of an enum of ${layout.variants.length}`, start)
        return new StructValue(variant, this.#readFields(fields, depth))
      }
      case LAYOUT.function:
        return this.#readClosure(depth)
      default: {
        const value = readInteger(reader, layout.kind)
        if (typeof value === 'bigint') this.#meter.chargeBytes(bigintBytes(layout.kind))
        return value
      }
    }
  }

  #readAddress(): string {
    this.#meter.chargeBytes(ADDRESS_BYTES)
    return this.#reader.readAddress()
  }

  #readFields(layouts: readonly RuntimeLayout[], depth: number): Value[] {
    const count = layouts.length
    this.#meter.chargeContainer(count)
    const values = listOf(count)
    for (let read = 0; read < count; read++) {
      if (this.#unfinished.isSliceSpent) {
        this.#defer({ kind: 'struct', values, read, layouts, count, depth })
        break
      }
      put(values, read, this.#read(layouts[read]!, depth + 1))
    }
    return values
  }

  #readClosure(depth: number): ClosureValue {
    if (depth > MAX_VALUE_DEPTH) throw this.#reader.fault('a value that is too deep')
    const { target, mask, capturedCount } = this.#closures.readHead(this.#reader)
    this.#meter.chargeContainer(capturedCount)
    const values = listOf(capturedCount)
    const layouts: RuntimeLayout[] = []
    this.#readParts({ kind: 'closure', values, read: 0, layouts, count: capturedCount, depth })
    return new ClosureValue(target, mask, values, layouts)
  }

  #readParts(parts: ReadParts): void {
    const { kind, values, layouts, count, depth } = parts
    const last = Math.min(count, parts.read + PARTS_AT_ONCE)
    for (; parts.read < count; parts.read++) {
      if (this.#unfinished.isSliceSpent || parts.read >= last) {
        this.#defer(parts)
        return
      }
      if (kind === 'closure') (layouts as RuntimeLayout[]).push(this.#closures.readLayout(this.#reader, depth + 1))
      const layout = kind === 'vector' ? layouts[0]! : layouts[parts.read]!
      put(values, parts.read, this.#read(layout, depth + 1))
    }
  }

  /** Leaves parts to a later slice. Code that reads the enclosing value then does so, too. */
  #defer(parts: ReadParts): void {
    this.#unfinished.spendSlice()
    this.#unfinished.defer(parts)
  }
}

/** Sets a part of a list, or appends it if the list has no room for it yet. */
function put(values: Value[], at: number, value: Value): void {
  if (at < values.length) values[at] = value
  else values.push(value)
}

/** A list for parts: of its whole length, or empty if there are many. */
function listOf(count: number): Value[] {
  return count <= MOST_AT_ONCE ? UNREAD.slice(0, count) : []
}
