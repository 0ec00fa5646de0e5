type Numbers = Int32Array | Uint32Array | BigUint64Array

/**
 * Returns the same array if it is long enough, or else one of at least twice the length that begins with the same
 * numbers.
 */
export function grown<T extends Numbers>(array: T, length: number): T {
  if (array.length >= length) return array
  const larger = new (array.constructor as new (length: number) => T)(Math.max(length, 2 * array.length))
  larger.set(array as never)
  return larger
}
