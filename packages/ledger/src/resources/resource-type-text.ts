import type { JsonTextWriter } from '@ledger-state/bcs'
import { ADDRESS_LENGTH, addressToShortHex, ByteReader } from '@ledger-state/core'
import {
  type FunctionSlot,
  PRIMITIVE_TYPES,
  type StructTag,
  TYPE_TAG_VARIANTS,
  type TypeTag,
} from '@ledger-state/type-tag'

/**
 * Text of a resource's type, as the reference prints it next to the value. It differs from `typeTagToText` in function
 * types: `|u8,&u64|bool` without blanks, without brackets around the results, and without abilities.
 */
export function resourceTypeToText({ address, module, name, typeArguments }: StructTag): string {
  const base = `${addressToShortHex(address)}::${module}::${name}`
  return typeArguments.length === 0 ? base : `${base}<${typeArguments.map(moveTypeToText).join(', ')}>`
}

/** Text of any type, in the form of `resourceTypeToText`. */
export function moveTypeToText(tag: TypeTag): string {
  switch (tag.kind) {
    case 'vector':
      return `vector<${moveTypeToText(tag.element)}>`
    case 'struct':
      return resourceTypeToText(tag)
    case 'function':
      return `|${slotsToText(tag.parameters)}|${slotsToText(tag.results)}`
    default:
      return tag.kind
  }
}

const PASSING_PREFIX = { reference: '&', mutableReference: '&mut ', value: '' } as const

function slotsToText(slots: readonly FunctionSlot[]): string {
  return slots.map(({ passing, type }) => PASSING_PREFIX[passing] + moveTypeToText(type)).join(',')
}

const ENCODER = new TextEncoder()
const QUOTE = 0x22
const OPEN = 0x3c
const CLOSE = 0x3e
const COLONS = ENCODER.encode('::')
const COMMA = ENCODER.encode(', ')
const VECTOR = ENCODER.encode('vector<')
/** Names of the types without parts, by their variants in BCS. */
const PRIMITIVE_NAMES: readonly (Uint8Array | undefined)[] = PRIMITIVE_TYPES.reduce<Uint8Array[]>((names, type) => {
  names[TYPE_TAG_VARIANTS[type]] = ENCODER.encode(type)
  return names
}, [])

/**
 * Appends the text of a resource's type as a JSON string, from the BCS of its tag, which must be sound. It appends nothing
 * and returns false if the type names a function type, or something that a string escapes.
 */
export function appendPlainTypeText(tagBytes: Uint8Array, out: JsonTextWriter): boolean {
  const start = out.length
  out.byte(QUOTE)
  if (appendStruct(new ByteReader(tagBytes), out)) {
    out.byte(QUOTE)
    return true
  }
  out.length = start
  return false
}

function appendStruct(reader: ByteReader, out: JsonTextWriter): boolean {
  out.address(reader.bytes, reader.skip(ADDRESS_LENGTH))
  for (let names = 0; names < 2; names++) {
    const length = reader.readLength()
    const start = reader.skip(length)
    out.raw(COLONS)
    if (!out.plain(reader.bytes, start, start + length)) return false
  }
  const count = reader.readLength()
  if (count === 0) return true
  out.byte(OPEN)
  for (let at = 0; at < count; at++) {
    if (at > 0) out.raw(COMMA)
    if (!appendType(reader, out)) return false
  }
  out.byte(CLOSE)
  return true
}

function appendType(reader: ByteReader, out: JsonTextWriter): boolean {
  const variant = reader.readUleb128()
  if (variant === TYPE_TAG_VARIANTS.struct) return appendStruct(reader, out)
  if (variant === TYPE_TAG_VARIANTS.vector) {
    out.raw(VECTOR)
    if (!appendType(reader, out)) return false
    out.byte(CLOSE)
    return true
  }
  const name = PRIMITIVE_NAMES[variant]
  if (name === undefined) return false
  out.raw(name)
  return true
}
