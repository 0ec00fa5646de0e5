const U32 = 2 ** 32
const COUNTER_KEY_LENGTH = 6

/** Encodes keys that are numbers below 2^48: u48, big-endian, so that keys sort by value. */
export const COUNTER_KEY_ENCODER = {
  writeKey(counter: number, target: Uint8Array, position: number): number {
    const high = Math.floor(counter / U32)
    target[position] = high >>> 8
    target[position + 1] = high
    target[position + 2] = counter >>> 24
    target[position + 3] = counter >>> 16
    target[position + 4] = counter >>> 8
    target[position + 5] = counter
    return position + COUNTER_KEY_LENGTH
  },
  readKey(source: Uint8Array, start: number): number {
    const high = (source[start]! << 8) | source[start + 1]!
    const low = (source[start + 2]! << 24) | (source[start + 3]! << 16) | (source[start + 4]! << 8) | source[start + 5]!
    return high * U32 + (low >>> 0)
  },
}

/** Seed for the checksum of a record with this key, so that a record under a wrong key does not match. */
export function counterSeed(counter: number): number {
  return Math.imul(Math.imul(Math.floor(counter / U32) + 1, 0x9e3779b1) ^ counter, 0x85ebca6b) >>> 0
}
