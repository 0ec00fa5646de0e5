import type { ByteReader, ByteWriter } from '@ledger-state/core'
import { bitsOf, FIRST_SIGNED } from '../types/integer-type.js'

/** Largest upper half of a 64-bit integer that is at most 2^53 - 1. */
const MAX_HIGH_WORD = 0x1f_ffff
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
  for (let at = 0; at < count; at++) if (reader.bytes[start + at] !== 0) return false
  return true
}

/** Writes an integer of a type, given by its number. The value must be in the range of the type. */
export function writeInteger(writer: ByteWriter, value: number | bigint, type: number): void {
  const width = bitsOf(type) / 8
  if (typeof value === 'number' && value >= 0) writer.unsigned(value, width)
  else writer.integer(BigInt(value), width)
}
