/**
 * Finds the first of `count` numbered items that a node holds. A node prunes the oldest first, so it holds everything
 * after an item that it holds: a binary search, with one question if nothing was pruned.
 * @returns `count` if it holds none of them
 */
export async function firstHeld(count: bigint, isHeld: (at: bigint) => Promise<boolean>): Promise<bigint> {
  if (count === 0n || (await isHeld(0n))) return 0n
  let [low, high] = [1n, count]
  while (low < high) {
    const middle = (low + high) / 2n
    if (await isHeld(middle)) high = middle
    else low = middle + 1n
  }
  return low
}
