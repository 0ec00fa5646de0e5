type Numbers = Int32Array | Uint32Array | BigUint64Array

/** The same array while it is long enough, or else one of at least twice the length that begins with its numbers. */
export function grown<T extends Numbers>(array: T, length: number): T {
  if (array.length >= length) return array
  const larger = new (array.constructor as new (length: number) => T)(Math.max(length, 2 * array.length))
  larger.set(array as never)
  return larger
}
