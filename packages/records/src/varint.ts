import type { ByteReader, ByteWriter } from '@ledger-state/core'

/** Most bits that a varint of a u64 and the flags in front of it takes. */
const MOST_BITS = 70n
const LOW_BITS = 0x7fn
const MORE = 0x80

/** Appends a number of up to 70 bits: 7 bits a byte, the lowest first; all bytes but the last have their top bit set. */
export function writeVarint(writer: ByteWriter, value: bigint): void {
  let rest = value
  for (; rest > LOW_BITS; rest >>= 7n) writer.u8(Number(rest & LOW_BITS) | MORE)
  writer.u8(Number(rest))
}

/** Reads the number that `writeVarint` wrote. @throws `invalid_bcs` beyond 70 bits */
export function readVarint(reader: ByteReader): bigint {
  let value = 0n
  for (let shift = 0n; shift < MOST_BITS; shift += 7n) {
    const byte = reader.readU8()
    value |= BigInt(byte & 0x7f) << shift
    if (byte < MORE) return value
  }
  throw reader.fault('a number of more than 70 bits')
}
