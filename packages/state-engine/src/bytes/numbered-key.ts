/**
 * A key of two numbers, u64 ++ u48, big-endian, so that keys sort by value. The first is a version or an id, the second
 * an id or the number of a part. Both are kept as halves, which are exact and cheaper than a bigint.
 */
export interface NumberedKey {
  high: number
  low: number
  partHigh: number
  partLow: number
}

const NUMBERED_KEY_LENGTH = 14
const U32 = 2 ** 32

export const NUMBERED_KEY_ENCODER = {
  writeKey({ high, low, partHigh, partLow }: NumberedKey, target: Uint8Array, position: number): number {
    writeU32(target, position, high)
    writeU32(target, position + 4, low)
    target[position + 8] = partHigh >>> 8
    target[position + 9] = partHigh
    writeU32(target, position + 10, partLow)
    return position + NUMBERED_KEY_LENGTH
  },
  readKey(source: Uint8Array, start: number): NumberedKey {
    return {
      high: readU32(source, start),
      low: readU32(source, start + 4),
      partHigh: (source[start + 8]! << 8) | source[start + 9]!,
      partLow: readU32(source, start + 10),
    }
  },
}

export function versionKey(version: bigint, part: number): NumberedKey {
  return {
    high: highHalf(version),
    low: lowHalf(version),
    partHigh: Math.floor(part / U32),
    partLow: part >>> 0,
  }
}

/** Seed for the checksum of a record with this key, so that a record under a wrong key does not match. */
export function numberedKeySeed({ high, low, partHigh, partLow }: NumberedKey): number {
  const mixed = Math.imul(Math.imul(Math.imul(high, 0x9e3779b1) ^ low, 0x85ebca6b) ^ partHigh, 0xc2b2ae35) ^ partLow
  return mixed >>> 0
}

export function numberedKeyPart({ partHigh, partLow }: NumberedKey): number {
  return partHigh * U32 + partLow
}

export function numberedKeyVersion({ high, low }: NumberedKey): bigint {
  return (BigInt(high) << 32n) | BigInt(low)
}

export function highHalf(version: bigint): number {
  return Number(version >> 32n)
}

export function lowHalf(version: bigint): number {
  return Number(version & 0xffff_ffffn)
}

function writeU32(target: Uint8Array, at: number, value: number): void {
  target[at] = value >>> 24
  target[at + 1] = value >>> 16
  target[at + 2] = value >>> 8
  target[at + 3] = value
}

function readU32(source: Uint8Array, at: number): number {
  return ((source[at]! << 24) | (source[at + 1]! << 16) | (source[at + 2]! << 8) | source[at + 3]!) >>> 0
}
