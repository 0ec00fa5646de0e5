// Versions as two halves of 32 bits, which are exact and cheaper than a bigint.

export function highHalf(version: bigint): number {
  return Number(version >> 32n)
}

export function lowHalf(version: bigint): number {
  return Number(version & 0xffff_ffffn)
}
