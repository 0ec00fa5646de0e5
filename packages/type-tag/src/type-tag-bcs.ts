import { ADDRESS_LENGTH, type ByteReader, ByteWriter } from '@ledger-state/core'
import { decodeUtf8 } from '@ledger-state/core/bytes'
import {
  type FunctionSlot,
  type PrimitiveTag,
  type PrimitiveType,
  primitiveTag,
  type StructTag,
  type TypeTag,
} from './type-tag.js'

/**
 * Variant of each kind of type tag in BCS, and its place in the order of tags; see docs/ledger-formats.md, section "Type
 * tags".
 */
export const TYPE_TAG_VARIANTS: Readonly<Record<PrimitiveType | 'vector' | 'struct' | 'function', number>> = {
  bool: 0,
  u8: 1,
  u64: 2,
  u128: 3,
  address: 4,
  signer: 5,
  vector: 6,
  struct: 7,
  u16: 8,
  u32: 9,
  u256: 10,
  function: 11,
  i8: 12,
  i16: 13,
  i32: 14,
  i64: 15,
  i128: 16,
  i256: 17,
}
const KIND_OF_VARIANT = new Map(Object.entries(TYPE_TAG_VARIANTS).map(([kind, tag]) => [tag, kind]))

/** Deepest nesting that is read: more than any tag of a ledger has, and little enough for the stack. */
const MAX_BCS_NESTING = 64

/** Writes the BCS of a type tag. */
export function writeTypeTag(writer: ByteWriter, tag: TypeTag): void {
  writer.uleb128(TYPE_TAG_VARIANTS[tag.kind])
  if (tag.kind === 'vector') writeTypeTag(writer, tag.element)
  else if (tag.kind === 'struct') writeStructTag(writer, tag)
  else if (tag.kind === 'function') {
    writeSlots(writer, tag.parameters)
    writeSlots(writer, tag.results)
    writer.u8(tag.abilities)
  }
}

const PASSINGS = ['reference', 'mutableReference', 'value'] as const

function writeSlots(writer: ByteWriter, slots: readonly FunctionSlot[]): void {
  writer.uleb128(slots.length)
  for (const { passing, type } of slots) {
    writer.uleb128(PASSINGS.indexOf(passing))
    writeTypeTag(writer, type)
  }
}

/** Writes the BCS of a struct tag, without the byte for its variant. */
export function writeStructTag(writer: ByteWriter, tag: StructTag): void {
  writer.bytes(tag.address).string(tag.module).string(tag.name).uleb128(tag.typeArguments.length)
  for (const argument of tag.typeArguments) writeTypeTag(writer, argument)
}

/** The BCS of a struct tag, without the byte for its variant. */
export function structTagToBytes(tag: StructTag): Uint8Array {
  const writer = new ByteWriter()
  writeStructTag(writer, tag)
  return writer.toBytes()
}

/**
 * Reads a type tag from its BCS.
 * @param depth number of the types that the tag lies in
 * @param most most types that a type may lie in
 * @throws `invalid_bcs`
 */
export function readTypeTag(reader: ByteReader, depth = 0, most = MAX_BCS_NESTING): TypeTag {
  const start = reader.offset
  if (depth > most) throw reader.fault(`types are nested more than ${most} levels deep`)
  const kind = KIND_OF_VARIANT.get(reader.readUleb128())
  if (kind === undefined) throw reader.fault('unknown type tag', start)
  if (kind === 'vector') return { kind, element: readTypeTag(reader, depth + 1, most) }
  if (kind === 'struct') return readStructTag(reader, depth, most)
  if (kind === 'function') {
    const parameters = readSlots(reader, depth, most)
    return { kind, parameters, results: readSlots(reader, depth, most), abilities: reader.readU8() }
  }
  return primitiveTag(kind) as PrimitiveTag
}

/** Reads a struct tag from its BCS, without the byte for its variant. @throws `invalid_bcs` */
export function readStructTag(reader: ByteReader, depth = 0, most = MAX_BCS_NESTING): StructTag {
  const address = new Uint8Array(reader.readBytes(ADDRESS_LENGTH))
  const module = readName(reader)
  const name = readName(reader)
  const typeArguments = readList(reader, () => readTypeTag(reader, depth + 1, most))
  return { kind: 'struct', address, module, name, typeArguments }
}

/** Skips a type tag. This takes a third of the time of reading the tag. @throws `invalid_bcs` */
export function skipTypeTag(reader: ByteReader, depth = 0): void {
  const start = reader.offset
  if (depth > MAX_BCS_NESTING) throw reader.fault(`types are nested more than ${MAX_BCS_NESTING} levels deep`)
  const tag = reader.readUleb128()
  if (tag === TYPE_TAG_VARIANTS.vector) skipTypeTag(reader, depth + 1)
  else if (tag === TYPE_TAG_VARIANTS.struct) skipStructTag(reader, depth)
  else if (tag === TYPE_TAG_VARIANTS.function) {
    skipSlots(reader, depth)
    skipSlots(reader, depth)
    reader.skip(1)
  } else if (!KIND_OF_VARIANT.has(tag)) throw reader.fault('unknown type tag', start)
}

/** Moves past a struct tag, as `skipTypeTag` does. @throws `invalid_bcs` */
export function skipStructTag(reader: ByteReader, depth = 0): void {
  reader.skip(ADDRESS_LENGTH)
  skipName(reader)
  skipName(reader)
  for (let rest = readCount(reader); rest > 0; rest--) skipTypeTag(reader, depth + 1)
}

function readSlots(reader: ByteReader, depth: number, most: number): FunctionSlot[] {
  return readList(reader, () => ({ passing: readPassing(reader), type: readTypeTag(reader, depth + 1, most) }))
}

function skipSlots(reader: ByteReader, depth: number): void {
  for (let rest = readCount(reader); rest > 0; rest--) {
    readPassing(reader)
    skipTypeTag(reader, depth + 1)
  }
}

function readPassing(reader: ByteReader): FunctionSlot['passing'] {
  const start = reader.offset
  const passing = PASSINGS[reader.readUleb128()]
  if (!passing) throw reader.fault('a parameter of a function type is neither a reference nor a value', start)
  return passing
}

function readList<T>(reader: ByteReader, readItem: () => T): T[] {
  const items: T[] = []
  for (let rest = readCount(reader); rest > 0; rest--) items.push(readItem())
  return items
}

/**
 * Reads the number of items of a list. Each item takes at least one byte, so a number above the bytes left is refused
 * before anything is allocated.
 */
function readCount(reader: ByteReader): number {
  const start = reader.offset
  const count = reader.readLength()
  if (count > reader.remaining) throw reader.fault(`${count} types in ${reader.remaining} bytes`, start)
  return count
}

/** Reads a text: its length in bytes, and its UTF-8. @throws `invalid_bcs` */
export function readName(reader: ByteReader): string {
  const start = reader.offset
  const name = decodeUtf8(reader.readByteString())
  if (name === undefined) throw reader.fault('a name is not UTF-8', start)
  return name
}

/** Moves past a text. Names are ASCII, so that nothing is decoded. @throws `invalid_bcs` */
function skipName(reader: ByteReader): void {
  const start = reader.offset
  reader.skip(reader.readLength())
  const { bytes, offset } = reader
  let bits = 0
  for (let at = start; at < offset; at++) bits |= bytes[at]!
  if (bits < 0x80) return
  reader.offset = start
  readName(reader)
}
