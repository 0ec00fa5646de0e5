import { ADDRESS_LENGTH, type ByteReader } from '@ledger-state/core'
import { ADDRESS_BYTES, containerBytes, type Meter } from '../budget/meter.js'
import { bitsOf, FIRST_SIGNED } from '../types/integer-type.js'
import { type FixedForm, LAYOUT, type RuntimeLayout, type WholeForm } from '../types/runtime-layout.js'
import { type Slot, StructValue, type UnreadFields, type Value } from '../values/value.js'
import { bigintBytes, isShortInteger, readInteger } from './integer-codec.js'

/** Most nodes of a struct with a form: a form takes memory and time for each of them. */
const MOST_NODES = 128
/** Heap bytes of each struct whose fields are decoded late, and of its bytes with their reader; measured on Node 24. */
export const UNREAD_BYTES = { struct: 56, reader: 264 } as const
const NO_FIELDS: readonly undefined[] = Array.from(Array(MOST_NODES), () => undefined)

/** The form of a layout; undefined if its values differ in length, or it is large. */
function formOf(layout: RuntimeLayout): FixedForm | undefined {
  if (layout.fixed === undefined) layout.fixed = makeForm(layout) ?? null
  return layout.fixed ?? undefined
}

function makeForm({ nodes, parts }: RuntimeLayout): FixedForm | undefined {
  if (nodes > MOST_NODES) return undefined
  let size = 0
  const offsets: number[] = []
  for (const part of parts) {
    const width = widthOf(part)
    if (width === undefined) return undefined
    offsets.push(size)
    size += width
  }
  return { size, offsets, whole: undefined }
}

/** Length of the BCS of a part; undefined if its values differ in length. */
function widthOf(part: RuntimeLayout): number | undefined {
  const { kind } = part
  if (kind < FIRST_SIGNED) return bitsOf(kind) / 8
  if (kind === LAYOUT.bool) return 1
  return kind === LAYOUT.address ? ADDRESS_LENGTH : formOf(part)?.size
}

function makeWhole(layout: RuntimeLayout): WholeForm {
  const bools: number[] = []
  const wide: { readonly at: number; readonly type: number }[] = []
  let heapBytes: number = UNREAD_BYTES.reader
  const addStruct = ({ parts, fixed }: RuntimeLayout, start: number): void => {
    heapBytes += containerBytes(parts.length) + UNREAD_BYTES.struct
    for (let index = 0; index < parts.length; index++) {
      const part = parts[index]!
      const { kind } = part
      const at = start + fixed!.offsets[index]!
      if (kind === LAYOUT.struct) addStruct(part, at)
      else if (kind === LAYOUT.bool) bools.push(at)
      else if (kind === LAYOUT.address) heapBytes += ADDRESS_BYTES
      else if (bitsOf(kind) > 32) wide.push({ at, type: kind })
    }
  }
  addStruct(layout, 0)
  return { heapBytes, bools, wide }
}

/**
 * The struct of a fixed length that all bytes of a reader are. A field is decoded when code first looks at it, but all of
 * them are charged, and so is the memory that they take until then. Undefined for other layouts and other bytes; then
 * nothing is charged. The bytes must not change afterwards.
 * @throws VmFault if the budget is exhausted
 */
export function decodeFixedStruct(reader: ByteReader, layout: RuntimeLayout, meter: Meter): StructValue | undefined {
  const form = formOf(layout)
  const { bytes, offset, remaining } = reader
  if (form?.size !== remaining) return undefined
  form.whole ??= makeWhole(layout)
  const { bools, wide } = form.whole
  for (const at of bools) if (bytes[offset + at]! > 1) return undefined
  let { heapBytes } = form.whole
  for (const { at, type } of wide) if (!isShortInteger(bytes, offset + at, type)) heapBytes += bigintBytes(type)
  meter.chargeBytes(remaining + heapBytes)
  return new StructValue(0, new UnreadStruct(reader, offset, layout))
}

/** The fields of a struct of a fixed length. Those that are not decoded yet are undefined. */
class UnreadStruct implements UnreadFields {
  readonly #reader: ByteReader
  readonly #start: number
  readonly #layout: RuntimeLayout
  readonly #fields: Slot[]

  /** @param start offset of the struct in the bytes of the reader, which nested structs share */
  constructor(reader: ByteReader, start: number, layout: RuntimeLayout) {
    this.#reader = reader
    this.#start = start
    this.#layout = layout
    this.#fields = NO_FIELDS.slice(0, layout.parts.length)
  }

  read(index: number): Value[] {
    if (this.#fields[index] === undefined) this.#fields[index] = this.#decode(index)
    return this.#fields as Value[]
  }

  readAll(): Value[] {
    for (let index = 0; index < this.#fields.length; index++) this.read(index)
    return this.#fields as Value[]
  }

  #decode(index: number): Value {
    const reader = this.#reader
    const layout = this.#layout.parts[index]!
    const { kind } = layout
    const start = this.#start + this.#layout.fixed!.offsets[index]!
    if (kind === LAYOUT.struct) return new StructValue(0, new UnreadStruct(reader, start, layout))
    reader.offset = start
    if (kind === LAYOUT.bool) return reader.readBool()
    return kind === LAYOUT.address ? reader.readAddress() : readInteger(reader, kind)
  }
}
