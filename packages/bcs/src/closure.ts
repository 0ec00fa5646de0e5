import { ADDRESS_LENGTH, addressToShortHex, type ByteReader } from '@ledger-state/core'
import { readName, readTypeTag, type TypeTag, typeTagToText } from '@ledger-state/type-tag'
import type { JsonPrinter } from './json-decoder.js'
import type { JsonTextWriter } from './json-text-writer.js'
import { type Layout, type LayoutField, MAX_LAYOUT_DEPTH } from './layout.js'
import { readElementCount } from './read-value.js'
import { faultInside } from './value-path.js'

// A function value as it is stored; see ledger-formats.md, section 3.6. A sequence: u16 format, module id, function
// name, type arguments, u64 mask, and for each captured value its layout and itself.

const FORMAT = 1
const FIXED_PARTS = 5

export interface ClosureHead {
  /** `0xa::module::function`. */
  readonly functionName: string
  readonly typeArguments: readonly TypeTag[]
  /** Bit n is set where the n-th argument is captured. */
  readonly mask: bigint
  readonly capturedCount: number
}

export function readClosureHead(reader: ByteReader): ClosureHead {
  const start = reader.offset
  const parts = reader.readLength()
  const format = reader.readU16()
  if (format !== FORMAT) throw reader.fault(`a function value of format ${format}, ${FORMAT} is read`, start)
  const address = addressToShortHex(reader.readBytes(ADDRESS_LENGTH))
  const functionName = `${address}::${readName(reader)}::${readName(reader)}`
  const count = readElementCount(reader, 1)
  const typeArguments: TypeTag[] = []
  for (let at = 0; at < count; at++) typeArguments.push(readTypeTag(reader))
  const mask = reader.readU64()
  const capturedCount = bitCount(mask)
  if (parts !== FIXED_PARTS + 2 * capturedCount) {
    throw reader.fault(`a function value of ${parts} parts that captures ${capturedCount} values`, start)
  }
  return { functionName, typeArguments, mask, capturedCount }
}

/** `{"__captured__":[…],"__fun_name__":…,"__mask__":…,"__ty_args__":[…]}`, what is empty left out; the mask is binary. */
export function printClosure(
  reader: ByteReader,
  out: JsonTextWriter,
  depth: number,
  compile: (layout: Layout, depth: number) => JsonPrinter,
): void {
  const { functionName, typeArguments, mask, capturedCount } = readClosureHead(reader)
  out.byte(0x7b)
  if (capturedCount > 0) {
    out.ascii('"__captured__":[')
    for (let at = 0; at < capturedCount; at++) {
      if (at > 0) out.byte(0x2c)
      try {
        compile(readLayout(reader, depth + 1), depth + 1)(reader, out)
      } catch (error) {
        throw faultInside(`__captured__[${at}]`, error)
      }
    }
    out.ascii('],')
  }
  out.ascii('"__fun_name__":')
  out.json(functionName)
  out.ascii(`,"__mask__":"${mask.toString(2)}"`)
  if (typeArguments.length > 0) {
    out.ascii(',"__ty_args__":')
    out.json(typeArguments.map(typeTagToText))
  }
  out.byte(0x7d)
}

/** Kinds of layouts by their tag in BCS. Fields have no names there and are called by their place, `_0`, `_1`. */
const LAYOUT_KINDS = [
  'bool',
  'u8',
  'u64',
  'u128',
  'address',
  'vector',
  'struct',
  'signer',
  'u16',
  'u32',
  'u256',
  'wrapper',
  'function',
  'i8',
  'i16',
  'i32',
  'i64',
  'i128',
  'i256',
] as const
const PLAIN_STRUCT = 0
const VARIANTS = 1

/** The layout that stands before a captured value. */
export function readLayout(reader: ByteReader, depth: number): Layout {
  const start = reader.offset
  if (depth > MAX_LAYOUT_DEPTH) throw reader.fault(`layouts are nested more than ${MAX_LAYOUT_DEPTH} levels deep`)
  const kind = LAYOUT_KINDS[reader.readUleb128()]
  switch (kind) {
    case undefined:
      throw reader.fault('unknown layout', start)
    case 'vector':
      return { kind, element: readLayout(reader, depth + 1) }
    case 'wrapper':
      // Marks aggregators; in storage their values are plain.
      reader.readUleb128()
      return readLayout(reader, depth + 1)
    case 'struct': {
      const form = reader.readUleb128()
      if (form === PLAIN_STRUCT) return { kind, name: 'captured', fields: readFields(reader, depth) }
      if (form !== VARIANTS) throw reader.fault('unknown form of a struct layout', start)
      const count = readElementCount(reader, 1)
      const variants: { name: string; fields: LayoutField[] }[] = []
      for (let at = 0; at < count; at++) variants.push({ name: String(at), fields: readFields(reader, depth) })
      return { kind: 'enum', name: 'captured', variants }
    }
    default:
      return { kind }
  }
}

function readFields(reader: ByteReader, depth: number): LayoutField[] {
  const count = readElementCount(reader, 1)
  const fields: LayoutField[] = []
  for (let at = 0; at < count; at++) fields.push({ name: `_${at}`, layout: readLayout(reader, depth + 1) })
  return fields
}

function bitCount(mask: bigint): number {
  let count = 0
  for (let rest = mask; rest > 0n; rest &= rest - 1n) count++
  return count
}
