import type { ByteReader, ByteWriter } from '@ledger-state/core'

/** Most bits that a varint of a u64 and the flags in front of it takes. */
const MOST_BITS = 70n
const LOW_BITS = 0x7fn
const MORE = 0x80
/** Arithmetic of numbers up to here takes a fraction of the time of bigints. */
const MOST_SAFE = BigInt(Number.MAX_SAFE_INTEGER)

/** Appends a number of up to 70 bits: 7 bits a byte, the lowest first; all bytes but the last have their top bit set. */
export function writeVarint(writer: ByteWriter, value: bigint): void {
  let high = value
  for (; high > MOST_SAFE; high >>= 7n) writer.u8(Number(high & LOW_BITS) | MORE)
  let rest = Number(high)
  for (; rest >= MORE; rest = Math.floor(rest / MORE)) writer.u8((rest % MORE) | MORE)
  writer.u8(rest)
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
