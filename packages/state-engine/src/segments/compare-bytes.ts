/** Compares `a[startA, endA)` with `b[startB, endB)`, as `Buffer.compare` does; for keys, it takes less than the native call. */
export function compareBytes(
  a: Uint8Array,
  startA: number,
  endA: number,
  b: Uint8Array,
  startB: number,
  endB: number,
): number {
  const common = Math.min(endA - startA, endB - startB)
  for (let at = 0; at < common; at++) {
    const difference = a[startA + at]! - b[startB + at]!
    if (difference !== 0) return difference
  }
  return endA - startA - (endB - startB)
}
