import { FIXED_LENGTHS, INTEGER_TYPES } from '@ledger-state/type-tag'

// The VM numbers the integer types by their place in `INTEGER_TYPES`.

/** The first signed type in `INTEGER_TYPES`. */
export const FIRST_SIGNED = 6

const BITS = INTEGER_TYPES.map((type) => 8 * FIXED_LENGTHS[type]!)

/** Width in bits, by the number of a type. */
export function bitsOf(type: number): number {
  return BITS[type]!
}

const NUMBERS: ReadonlyMap<string, number> = new Map(INTEGER_TYPES.map((type, number) => [type, number]))

/** The number of an integer type; -1 for other types. */
export function integerTypeOf(kind: string): number {
  return NUMBERS.get(kind) ?? -1
}

/** Smallest and largest value, by the number of a type. */
export const MIN_VALUE: readonly bigint[] = INTEGER_TYPES.map((_, type) =>
  type < FIRST_SIGNED ? 0n : -(1n << BigInt(bitsOf(type) - 1)),
)
export const MAX_VALUE: readonly bigint[] = INTEGER_TYPES.map((_, type) =>
  type < FIRST_SIGNED ? (1n << BigInt(bitsOf(type))) - 1n : (1n << BigInt(bitsOf(type) - 1)) - 1n,
)

/**
 * Bounds within which a result held in a double is exact and in the range of the type: the range of the type, but at
 * most 2^53 - 1 in magnitude.
 */
export const FAST_MIN = Float64Array.from(MIN_VALUE, (value) => Math.max(Number(value), Number.MIN_SAFE_INTEGER))
export const FAST_MAX = Float64Array.from(MAX_VALUE, (value) => Math.min(Number(value), Number.MAX_SAFE_INTEGER))
