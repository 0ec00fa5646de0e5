import type { ByteReader, ByteWriter } from '@ledger-state/core'
import { BIGINT_HEAD_BYTES } from '../budget/meter.js'
import { bitsOf, FIRST_SIGNED } from '../types/integer-type.js'

/** Largest upper half of a 64-bit integer that is at most 2^53 - 1. */
const MAX_HIGH_WORD = 0x1f_ffff
/** Its third byte. */
const MAX_HIGH_BYTE = MAX_HIGH_WORD >> 16
const HIGH_WORD = 0x1_0000_0000

/** An integer in the form that values have: a number if it is safe (at most 2^53 - 1), else a bigint. */
export function toIntegerValue(value: bigint): number | bigint {
  const short = Number(value)
  return Number.isSafeInteger(short) ? short : value
}

/** Reads an integer of a type, given by its number. @throws `invalid_bcs` at the end of the input */
export function readInteger(reader: ByteReader, type: number): number | bigint {
  const bits = bitsOf(type)
  const isSigned = type >= FIRST_SIGNED
  if (bits <= 32) {
    const value = bits === 8 ? reader.readU8() : bits === 16 ? reader.readU16() : reader.readU32()
    return isSigned ? (value << (32 - bits)) >> (32 - bits) : value
  }
  const start = reader.offset
  const low = reader.readU32()
  const high = reader.readU32()
  const width = bits / 8
  if (high <= MAX_HIGH_WORD && (width === 8 || isZero(reader, width - 8))) {
    reader.offset = start + width
    return high * HIGH_WORD + low
  }
  reader.offset = start
  const value = width === 8 ? reader.readU64() : reader.readWideInteger(width)
  return toIntegerValue(isSigned ? BigInt.asIntN(bits, value) : value)
}

/** Whether the next bytes are zeros. */
function isZero(reader: ByteReader, count: number): boolean {
  const start = reader.skip(count)
  return areZeros(reader.bytes, start, start + count)
}

function areZeros(bytes: Uint8Array, start: number, end: number): boolean {
  for (let at = start; at < end; at++) if (bytes[at] !== 0) return false
  return true
}

/** Whether values have an unsigned integer of at least 64 bits as a number. */
export function isShortInteger(bytes: Uint8Array, at: number, type: number): boolean {
  return bytes[at + 7] === 0 && bytes[at + 6]! <= MAX_HIGH_BYTE && areZeros(bytes, at + 8, at + bitsOf(type) / 8)
}

/** Heap bytes of a bigint of a type. */
export function bigintBytes(type: number): number {
  return BIGINT_HEAD_BYTES + bitsOf(type) / 8
}

/** Writes an integer of a type, given by its number. The value must be in the range of the type. */
export function writeInteger(writer: ByteWriter, value: number | bigint, type: number): void {
  const width = bitsOf(type) / 8
  if (typeof value === 'number' && value >= 0) writer.unsigned(value, width)
  else writer.integer(BigInt(value), width)
}
