import type { ByteReader, ByteWriter } from '@ledger-state/core'
import {
  INTEGER_TYPES,
  type IntegerType,
  readName,
  readTypeTag,
  typeTagSize,
  writeTypeTag,
} from '@ledger-state/type-tag'
import type { Meter } from '../budget/meter.js'
import type { ClosureHead } from '../codec/decode-value.js'
import {
  BYTES_LAYOUT,
  enumLayout,
  LAYOUT,
  plainLayout,
  type RuntimeLayout,
  structLayout,
  vectorLayout,
} from '../types/runtime-layout.js'
import { TYPE_BYTES } from '../types/type.js'
import { MAX_VALUE_DEPTH } from '../values/copy-value.js'
import type { ClosureTarget, ClosureValue } from '../values/value.js'
import type { TypeTable } from './type-table.js'

// Function values as they are stored; see docs/ledger-formats.md, section "Function values".

const FORMAT_VERSION = 1
/** Number of parts before the captured values. */
const FIXED_PARTS = 5
const MASK_BITS = 64
/** Bytes of a head besides its names and type arguments. */
const HEAD_BYTES = 48
/** Most bytes of each part of a type in a tag, besides its names, and instructions that writing it takes. */
const TAG_PART_BYTES = 40
const TAG_PART_WORK = 4

/** First byte of each layout. */
const TAG = { vector: 5, struct: 6, wrapper: 11 } as const
const STRUCT_KIND = { fields: 0, variants: 1 } as const

const INTEGER_TAG: Readonly<Record<IntegerType, number>> = {
  u8: 1,
  u64: 2,
  u128: 3,
  u16: 8,
  u32: 9,
  u256: 10,
  i8: 13,
  i16: 14,
  i32: 15,
  i64: 16,
  i128: 17,
  i256: 18,
}
const TAG_OF_KIND: ReadonlyMap<number, number> = new Map<number, number>([
  [LAYOUT.bool, 0],
  [LAYOUT.address, 4],
  [LAYOUT.signer, 7],
  [LAYOUT.function, 12],
  ...INTEGER_TYPES.map((name, type) => [type, INTEGER_TAG[name]] as const),
])
const KIND_OF_TAG: ReadonlyMap<number, number> = new Map([...TAG_OF_KIND].map(([kind, tag]) => [tag, kind]))

/** Most nodes in the layouts of a stored closure, as many as a type may have. */
const MAX_NODES = 512

/** Writes everything of a closure before its captured values. @throws VmFault if the budget is exhausted */
export function writeClosureHead(
  writer: ByteWriter,
  { target, mask, captured }: ClosureValue,
  types: TypeTable,
  meter: Meter,
): void {
  chargeHead(target, meter)
  writer.uleb128(FIXED_PARTS + 2 * captured.length).u16(FORMAT_VERSION)
  writer.address(target.address).string(target.module).string(target.name).uleb128(target.typeArguments.length)
  for (const type of target.typeArguments) writeTypeTag(writer, types.tagOf(type))
  writer.u64(mask)
}

/** Charges the head of a closure before it is written: its names, and the tags of its type arguments. */
function chargeHead({ module, name, typeArguments }: ClosureTarget, meter: Meter): void {
  let size = 0
  let bytes = HEAD_BYTES + module.length + name.length
  for (const type of typeArguments) {
    size += type.size
    bytes += type.nameLength
  }
  meter.chargeInstructions(TAG_PART_WORK * size)
  meter.chargeBytes(bytes + TAG_PART_BYTES * size)
}

/**
 * Reads everything of a closure before its captured values. Its function is not looked up.
 * @throws `invalid_bcs`, VmFault
 */
export function readClosureHead(reader: ByteReader, types: TypeTable, meter: Meter): ClosureHead {
  const start = reader.offset
  const count = reader.readLength()
  if (reader.readU16() !== FORMAT_VERSION) throw reader.fault('a function value of an unknown format', start)
  const address = reader.readAddress()
  const module = readName(reader)
  const name = readName(reader)
  const typeArguments = []
  for (let left = reader.readLength(); left > 0; left--) {
    const tag = readTypeTag(reader)
    meter.chargeBytes(TYPE_BYTES * typeTagSize(tag))
    typeArguments.push(types.ofTag(tag))
  }
  const mask = reader.readU64()
  const capturedCount = bitCount(mask)
  if (count !== FIXED_PARTS + 2 * capturedCount)
    throw reader.fault('a function value with a wrong number of parts', start)
  return { target: { address, module, name, typeArguments }, mask, capturedCount }
}

/**
 * Writes the layout of a captured value. It has at most `MAX_NODES` nodes, so it is charged once its bytes are known.
 * @throws VmFault if the budget is exhausted
 */
export function writeCapturedLayout(writer: ByteWriter, layout: RuntimeLayout, meter: Meter): void {
  const before = writer.length
  writeLayout(writer, layout)
  meter.chargeBytes(writer.length - before)
}

/** Reads the layout of a captured value. @throws `invalid_bcs`, VmFault */
export function readCapturedLayout(reader: ByteReader, depth: number, meter: Meter): RuntimeLayout {
  const budget = { left: MAX_NODES }
  const layout = readLayout(reader, budget, depth)
  meter.chargeBytes(LAYOUT_BYTES * (MAX_NODES - budget.left))
  return layout
}

/** Number of bits that are set. */
function bitCount(mask: bigint): number {
  let count = 0
  for (let bit = 0; bit < MASK_BITS; bit++) if ((mask >> BigInt(bit)) & 1n) count++
  return count
}

function writeLayout(writer: ByteWriter, layout: RuntimeLayout): void {
  const writeAll = (layouts: readonly RuntimeLayout[]) => {
    writer.uleb128(layouts.length)
    for (const one of layouts) writeLayout(writer, one)
  }
  switch (layout.kind) {
    case LAYOUT.bytes:
      writer.uleb128(TAG.vector).uleb128(INTEGER_TAG.u8)
      return
    case LAYOUT.vector:
      writer.uleb128(TAG.vector)
      writeLayout(writer, layout.parts[0]!)
      return
    case LAYOUT.struct:
      writer.uleb128(TAG.struct).uleb128(STRUCT_KIND.fields)
      writeAll(layout.parts)
      return
    case LAYOUT.enum:
      writer.uleb128(TAG.struct).uleb128(STRUCT_KIND.variants).uleb128(layout.variants.length)
      for (const variant of layout.variants) writeAll(variant)
      return
    default:
      writer.uleb128(TAG_OF_KIND.get(layout.kind)!)
  }
}

function readLayout(reader: ByteReader, budget: { left: number }, depth: number): RuntimeLayout {
  const start = reader.offset
  if (--budget.left < 0 || depth > MAX_VALUE_DEPTH) throw reader.fault('a layout that is too large')
  const readAll = (): RuntimeLayout[] => {
    const layouts: RuntimeLayout[] = []
    for (let left = reader.readLength(); left > 0; left--) layouts.push(readLayout(reader, budget, depth + 1))
    return layouts
  }
  const tag = reader.readUleb128()
  switch (tag) {
    case TAG.vector: {
      const element = readLayout(reader, budget, depth + 1)
      return element.kind === U8 ? BYTES_LAYOUT : vectorLayout(element)
    }
    case TAG.struct: {
      const kind = reader.readUleb128()
      if (kind === STRUCT_KIND.fields) return structLayout(readAll())
      if (kind !== STRUCT_KIND.variants) throw reader.fault(`unknown kind ${kind} of a struct layout`, start)
      const variants: RuntimeLayout[][] = []
      for (let left = reader.readLength(); left > 0; left--) {
        if (--budget.left < 0) throw reader.fault('a layout that is too large')
        variants.push(readAll())
      }
      return enumLayout(variants)
    }
    case TAG.wrapper:
      reader.readUleb128()
      return readLayout(reader, budget, depth + 1)
    default: {
      const kind = KIND_OF_TAG.get(tag)
      if (kind === undefined) throw reader.fault(`unknown layout ${tag}`, start)
      return plainLayout(kind)
    }
  }
}

/** Heap bytes of a layout. */
const LAYOUT_BYTES = 192
const U8 = INTEGER_TYPES.indexOf('u8')
