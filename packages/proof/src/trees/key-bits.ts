/** Whether a bit of a key hash is 1; bit 0 is the highest of the first byte. */
export function isSet(keyHash: Uint8Array, bit: number): boolean {
  return ((keyHash[bit >> 3]! >> (7 - (bit & 7))) & 1) === 1
}

/** Number of bits that two different key hashes share before the first that differs. */
export function commonBits(a: Uint8Array, b: Uint8Array): number {
  let byte = 0
  while (a[byte] === b[byte]) byte++
  return byte * 8 + Math.clz32(a[byte]! ^ b[byte]!) - 24
}
