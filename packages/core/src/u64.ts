import { invalidU64 } from './errors.js'

/** The largest u64, 2^64 - 1. */
export const U64_MAX = 0xffff_ffff_ffff_ffffn

/**
 * Parses a u64 in decimal. Leading zeros and one leading `+` are allowed.
 * @throws `invalid_u64`
 */
export function parseU64(text: string): bigint {
  const start = text.charCodeAt(0) === 0x2b ? 1 : 0
  if (text.length === start) {
    throw invalidU64(text, text === '' ? 'cannot parse integer from empty string' : 'invalid digit found in string')
  }
  for (let at = start; at < text.length; at++) {
    const digit = text.charCodeAt(at) - 0x30
    if (digit < 0 || digit > 9) throw invalidU64(text, 'invalid digit found in string')
  }
  let significantAt = start
  while (text.charCodeAt(significantAt) === 0x30 && significantAt < text.length - 1) significantAt++
  const significant = text.slice(significantAt)
  // BigInt() of a long text takes more than linear time.
  const value = significant.length > 20 ? U64_MAX + 1n : BigInt(significant)
  if (value > U64_MAX) throw invalidU64(text, 'number too large to fit in u64')
  return value
}

/** Whether a value is a bigint in the range of u64. */
export function isU64(value: unknown): value is bigint {
  return typeof value === 'bigint' && value >= 0n && value <= U64_MAX
}

/** The smaller of two bigints: `Math.min` takes none. */
export function smaller(a: bigint, b: bigint): bigint {
  return a < b ? a : b
}

/** The larger of two bigints. */
export function larger(a: bigint, b: bigint): bigint {
  return a > b ? a : b
}
