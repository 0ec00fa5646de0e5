import { setImmediate } from 'node:timers/promises'
import type { StateReader } from '@ledger-state/engine'

/** Blocks that are listed in a turn of the event loop. */
const BLOCKS_AT_ONCE = 500

/** Lists the last version of each block of a range that ends with a block, less the first version of the range. */
export async function listBlockEnds(
  engine: StateReader,
  first: bigint,
  last: bigint,
  signal: AbortSignal | undefined,
): Promise<Uint32Array> {
  let ends = new Uint32Array(1_024)
  let count = 0
  for (let next = first; next <= last; ) {
    const { lastVersion } = engine.blockAt(next)
    if (count === ends.length) {
      const larger = new Uint32Array(2 * count)
      larger.set(ends)
      ends = larger
    }
    ends[count++] = Number((lastVersion < last ? lastVersion : last) - first)
    next = lastVersion + 1n
    if (count % BLOCKS_AT_ONCE === 0) await setImmediate()
    signal?.throwIfAborted()
  }
  return ends.subarray(0, count)
}
