import { ByteVector } from '../values/byte-vector.js'
import { readReference, writeReference } from '../values/reference-access.js'
import { ByteReference, StructValue, type Value, VectorValue } from '../values/value.js'

// Readers for the arguments of natives. An argument may have a wrong type, as modules in a store may be damaged or
// hostile. Then these functions throw a `TypeError`, which ends the run with a fault.

const LARGEST_SAFE = BigInt(Number.MAX_SAFE_INTEGER)

function wrongType(expected: string): TypeError {
  return new TypeError(`an argument of a native is not of the expected type ${expected}`)
}

/** The target of a reference. */
export function valueAt(reference: Value | undefined): Value {
  if (reference === undefined) throw wrongType('reference')
  return readReference(reference)
}

/** Replaces the target of a reference. */
export function setValueAt(reference: Value | undefined, value: Value): void {
  if (reference === undefined) throw wrongType('reference')
  if (reference instanceof ByteReference && typeof value !== 'number') throw wrongType('u8')
  writeReference(reference, value)
}

/** The bytes of a `vector<u8>`, without a copy: valid until it changes, not to be written to. */
export function byteVectorOf(value: Value | undefined): Uint8Array {
  if (!(value instanceof ByteVector)) throw wrongType('vector<u8>')
  return value.view()
}

/** The bytes of a `&vector<u8>`. */
export function bytesAt(reference: Value | undefined): Uint8Array {
  return byteVectorOf(valueAt(reference))
}

export function addressOf(value: Value | undefined): string {
  if (typeof value !== 'string') throw wrongType('address')
  return value
}

export function booleanOf(value: Value | undefined): boolean {
  if (typeof value !== 'boolean') throw wrongType('bool')
  return value
}

export function integerOf(value: Value | undefined): bigint {
  if (typeof value === 'number') return BigInt(value)
  if (typeof value !== 'bigint') throw wrongType('integer')
  return value
}

/** An integer as an index. Integers above 2^53 - 1, which no vector reaches, all give one index. */
export function indexOf(value: Value | undefined): number {
  if (typeof value === 'bigint') return Number.MAX_SAFE_INTEGER
  if (typeof value !== 'number') throw wrongType('integer')
  return value
}

/** An integer in the one form that values have: a number if it is safe, else a bigint. */
export function toInteger(value: bigint): number | bigint {
  return value >= -LARGEST_SAFE && value <= LARGEST_SAFE ? Number(value) : value
}

export function structOf(value: Value | undefined): StructValue {
  if (!(value instanceof StructValue)) throw wrongType('struct')
  return value
}

export function structAt(reference: Value | undefined): StructValue {
  return structOf(valueAt(reference))
}

/** The elements of a vector of anything but u8. */
export function itemsOf(value: Value | undefined): Value[] {
  if (!(value instanceof VectorValue)) throw wrongType('vector')
  return value.items
}

/** A new `vector<u8>`, which takes the bytes as its own. */
export function toVector(bytes: Uint8Array): ByteVector {
  return new ByteVector(bytes)
}

/** The bytes of a `0x1::string::String`. */
export function textBytesOf(value: Value | undefined): Uint8Array {
  return byteVectorOf(structOf(value).fields[0])
}

/** A text of UTF-8 as a `0x1::string::String`. */
export function toMoveString(text: string | Uint8Array): StructValue {
  return new StructValue(0, [toVector(typeof text === 'string' ? toUtf8(text) : text)])
}

const UTF8 = new TextEncoder()
/** Up to this number of characters, a loop over ASCII is faster than the runtime's encoder. */
const SHORT_TEXT = 64

/** The UTF-8 of a text. */
export function toUtf8(text: string): Uint8Array {
  const { length } = text
  if (length > SHORT_TEXT) return UTF8.encode(text)
  const bytes = new Uint8Array(length)
  for (let at = 0; at < length; at++) {
    const code = text.charCodeAt(at)
    if (code > 0x7f) return UTF8.encode(text)
    bytes[at] = code
  }
  return bytes
}
