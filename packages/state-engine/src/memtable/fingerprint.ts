/** From this length, only six words of a key are hashed. */
const SAMPLED_FROM = 24

/**
 * Fingerprint of a key: an integer of 32 bits that distinguishes most keys, for a fraction of the cost of their hash.
 * Anybody can choose keys with the same fingerprint, so it may only save work, and never decide.
 */
export function fingerprintOf(bytes: Uint8Array, start: number, end: number): number {
  const length = end - start
  let mixed = length
  if (length >= SAMPLED_FROM) {
    // State keys differ in an address after their first byte, or in their last bytes, which may be those of a number.
    const quarter = length >> 2
    mixed = mix(mixed, wordAt(bytes, start + 1))
    mixed = mix(mixed, wordAt(bytes, start + quarter))
    mixed = mix(mixed, wordAt(bytes, start + 2 * quarter))
    mixed = mix(mixed, wordAt(bytes, start + 3 * quarter))
    mixed = mix(mixed, wordAt(bytes, end - 8))
    mixed = mix(mixed, wordAt(bytes, end - 4))
  } else {
    for (let at = start; at < end; at++) mixed = mix(mixed, bytes[at]!)
  }
  return mixed ^ (mixed >>> 15)
}

function mix(mixed: number, word: number): number {
  const product = Math.imul(mixed ^ word, 0x9e37_79b1)
  return product ^ (product >>> 16)
}

function wordAt(bytes: Uint8Array, at: number): number {
  return bytes[at]! | (bytes[at + 1]! << 8) | (bytes[at + 2]! << 16) | (bytes[at + 3]! << 24)
}
