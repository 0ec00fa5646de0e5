/**
 * Number of the first items of a sorted list for which a test holds: the index of the first other item, by binary
 * search.
 * @param isBefore true for items up to some place, and false for all after it
 * @example
 * ```ts
 * import { partitionPoint } from '@ledger-state/core'
 *
 * console.log(partitionPoint([1, 3, 5], (item) => item < 4)) // 2
 * ```
 */
export function partitionPoint<T>(items: ArrayLike<T>, isBefore: (item: T) => boolean): number {
  let [low, high] = [0, items.length]
  while (low < high) {
    const middle = (low + high) >>> 1
    if (isBefore(items[middle]!)) low = middle + 1
    else high = middle
  }
  return low
}
