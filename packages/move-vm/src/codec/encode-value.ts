import { ByteWriter } from '@ledger-state/core'
import { expectVectorBytes, type Meter } from '../budget/meter.js'
import { STATUS } from '../faults/status.js'
import { malformedCode, VmFault } from '../faults/vm-fault.js'
import { PARTS_AT_ONCE, type SlicedWork } from '../sliced-work.js'
import { LAYOUT, type RuntimeLayout } from '../types/runtime-layout.js'
import { ByteVector } from '../values/byte-vector.js'
import { MAX_VALUE_DEPTH, valueTooDeep } from '../values/copy-value.js'
import { UnfinishedParts } from '../values/unfinished-parts.js'
import { ClosureValue, StructValue, type Value, VectorValue } from '../values/value.js'
import { writeInteger } from './integer-codec.js'

/** Writes the parts of function values that are not values. */
export interface ClosureWriter {
  /** Charges and writes everything before the captured values. */
  writeHead(writer: ByteWriter, closure: ClosureValue): void
  /** Writes and charges the layout of a captured value. */
  writeLayout(writer: ByteWriter, layout: RuntimeLayout): void
}

/** Bytes that are charged for a slice. A part of a struct, and an empty vector, count as one. */
const SLICE_BYTES = 4_096

/** Parts of a value starting at an index. A vector has one layout; each captured value follows its layout. */
interface WrittenParts {
  readonly kind: 'vector' | 'struct' | 'closure'
  readonly values: readonly Value[]
  readonly layouts: readonly RuntimeLayout[]
  readonly from: number
  readonly depth: number
}

/** Writes the BCS of a value, in slices if the value is large. The value must not change until it is written. */
export class ValueEncoder implements SlicedWork<Uint8Array> {
  readonly #meter: Meter
  readonly #closures: ClosureWriter
  readonly #writer = new ByteWriter()
  readonly #unfinished: UnfinishedParts<WrittenParts>
  #root: { readonly value: Value; readonly layout: RuntimeLayout } | undefined

  constructor(meter: Meter, closures: ClosureWriter) {
    this.#meter = meter
    this.#closures = closures
    this.#unfinished = new UnfinishedParts(meter, SLICE_BYTES)
  }

  /** Begins a value, instead of the previous one. */
  begin(value: Value, layout: RuntimeLayout): void {
    this.#writer.reset()
    this.#unfinished.clear()
    this.#root = { value, layout }
  }

  /**
   * @throws VmFault if the value is too deep, does not fit the layout or holds a function value that cannot be stored,
   * or if the budget is exhausted
   */
  continue(): { readonly result: Uint8Array } | undefined {
    const root = this.#root
    this.#unfinished.beginSlice()
    if (root) {
      this.#root = undefined
      this.#write(root.value, root.layout, 1)
    } else for (let next = this.#unfinished.take(); next; next = this.#unfinished.take()) this.#writeParts(next)
    expectVectorBytes(this.#writer.length)
    this.#unfinished.endSlice()
    return this.#unfinished.length > 0 ? undefined : { result: this.#writer.toBytes() }
  }

  #write(value: Value, layout: RuntimeLayout, depth: number): void {
    if (depth > MAX_VALUE_DEPTH) throw valueTooDeep()
    const writer = this.#writer
    switch (layout.kind) {
      case LAYOUT.signer: {
        const address = value instanceof StructValue ? value.fields[0] : undefined
        if (typeof address !== 'string') throw otherType()
        writer.address(address)
        return
      }
      case LAYOUT.bytes:
        if (!(value instanceof ByteVector)) throw otherType()
        this.#meter.chargeBytes(value.length + 1)
        expectVectorBytes(writer.length + value.length)
        writer.byteString(value.view())
        return
      case LAYOUT.vector: {
        if (!(value instanceof VectorValue)) throw otherType()
        const { items } = value
        this.#meter.chargeBytes(items.length + 1)
        writer.uleb128(items.length)
        this.#writeParts({ kind: 'vector', values: items, layouts: layout.parts, from: 0, depth })
        return
      }
      case LAYOUT.struct:
        if (!(value instanceof StructValue) || value.variant !== 0) throw otherType()
        this.#writeFields(value.fields, layout.parts, depth)
        return
      case LAYOUT.enum: {
        const fields = value instanceof StructValue ? layout.variants[value.variant] : undefined
        if (!fields) throw otherType()
        writer.uleb128((value as StructValue).variant)
        this.#writeFields((value as StructValue).fields, fields, depth)
        return
      }
      case LAYOUT.function: {
        if (!(value instanceof ClosureValue)) throw otherType()
        const { captured, layouts } = value
        if (!layouts) throw new VmFault(STATUS.VALUE_SERIALIZATION_ERROR, 'a function value that cannot be stored')
        this.#closures.writeHead(writer, value)
        this.#meter.chargeBytes(captured.length)
        this.#writeParts({ kind: 'closure', values: captured, layouts, from: 0, depth })
        return
      }
      default:
        writePlain(writer, value, layout.kind)
    }
  }

  #writeFields(values: readonly Value[], layouts: readonly RuntimeLayout[], depth: number): void {
    if (values.length !== layouts.length) throw otherType()
    this.#meter.chargeBytes(values.length)
    for (let from = 0; from < values.length; from++) {
      if (this.#unfinished.isSliceSpent) {
        this.#defer({ kind: 'struct', values, layouts, from, depth })
        return
      }
      this.#write(values[from]!, layouts[from]!, depth + 1)
    }
  }

  #writeParts({ kind, values, layouts, from, depth }: WrittenParts): void {
    for (let at = from; at < values.length; at++) {
      if (this.#unfinished.isSliceSpent || at - from >= PARTS_AT_ONCE) {
        this.#defer({ kind, values, layouts, from: at, depth })
        return
      }
      const layout = kind === 'vector' ? layouts[0]! : layouts[at]!
      if (kind === 'closure') this.#closures.writeLayout(this.#writer, layout)
      this.#write(values[at]!, layout, depth + 1)
    }
  }

  /** Leaves parts to a later slice. Code that writes the enclosing value then does so, too. */
  #defer(parts: WrittenParts): void {
    this.#unfinished.spendSlice()
    this.#unfinished.defer(parts)
  }
}

/** Holds a value without parts while it is copied. */
const PLAIN = new ByteWriter()

/** The BCS of a value of a type without parts; undefined if the type has parts. @throws VmFault */
export function encodePlain(value: Value, { kind }: RuntimeLayout): Uint8Array | undefined {
  if (kind > LAYOUT.address) return undefined
  PLAIN.reset()
  writePlain(PLAIN, value, kind)
  return PLAIN.toBytes()
}

/** Writes an integer, a `bool` or an address. @throws VmFault */
function writePlain(writer: ByteWriter, value: Value, kind: number): void {
  if (kind === LAYOUT.bool) {
    if (typeof value !== 'boolean') throw otherType()
    writer.bool(value)
  } else if (kind === LAYOUT.address) {
    if (typeof value !== 'string') throw otherType()
    writer.address(value)
  } else {
    if (typeof value !== 'number' && typeof value !== 'bigint') throw otherType()
    writeInteger(writer, value, kind)
  }
}

function otherType() {
  return malformedCode('a value of another type than its layout')
}
