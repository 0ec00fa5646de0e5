/**
 * Finds the first of some numbered things that a node holds. It prunes the oldest first, so what follows one that it holds is held,
 * too: a binary search, of one question where nothing was pruned.
 * @returns `count` where it holds none of them
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
