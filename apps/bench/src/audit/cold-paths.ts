// A process that computes paths of keys while nothing of the store is in the page cache. Argument: a `ColdPathsTask` as
// JSON. It prints the times, in milliseconds.
import { join } from 'node:path'
import { type ParallelView, readEach } from '@ledger-state/engine'
import { type BlockPathFiles, type BlockState, createBlockPaths } from '@ledger-state/feed'
import { openStateEngineReader } from '@ledger-state/state-engine'
import { createRandom } from '@ledger-state/testing/random'
import { dropFromPageCache } from '../lookup/reader-process.ts'
import { keyBytes } from '../workload/workload.ts'

export interface ColdPathsTask {
  readonly path: string
  readonly proofs: BlockPathFiles
  readonly keys: number
  readonly count: number
  readonly seed: number
  readonly hashSalt: string
  /** Whether the values of a subtree are read one after the other. */
  readonly isInTurn: boolean
}

const task = JSON.parse(process.argv[2]!) as ColdPathsTask
const random = createRandom(task.seed)
const times: number[] = []
// The first ones warm up the code.
for (let count = -2; count < task.count; count++) {
  const time = await timePath(random.below(2 ** 31), keyBytes(random.below(task.keys)))
  if (count >= 0) times.push(time)
}
console.log(JSON.stringify(times))

/** Time of a path in a store that was just opened: indexes and filters of its files are in memory. */
async function timePath(place: number, key: Uint8Array): Promise<number> {
  const { path, proofs, hashSalt, isInTurn } = task
  const reader = openStateEngineReader({ path })
  const paths = createBlockPaths(join(path, 'audit'), hashSalt)
  try {
    paths.use(proofs)
    const asked = BigInt(place) % reader.at().version
    const version = paths.endUpTo(asked) ?? paths.endAfter(asked)!
    const view = reader.at(version)
    const read = isInTurn ? readInTurn : readEach
    const state: BlockState = { version, readEach: (names, visit) => read(view, names, visit) }
    dropFromPageCache(path)
    const began = performance.now()
    await paths.pathOf(state, key, { turn: async () => {}, hold: () => {} })
    return performance.now() - began
  } finally {
    paths.close()
    await reader.close()
  }
}

async function readInTurn(view: ParallelView, ...[names, visit]: Parameters<BlockState['readEach']>): Promise<void> {
  for (const name of names) visit(name, view.getEntry(name))
}
