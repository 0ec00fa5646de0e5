import { openStateEngine, type StateEngine } from '@ledger-state/state-engine'
import { createRandom } from '@ledger-state/testing/random'
import { VERSIONS_PER_BLOCK, type Workload, type WorkloadVersion } from '../workload/workload.ts'

const WRITES_PER_VERSION = 5
const VALUE = Buffer.alloc(150, 7)
const CHAIN = { chainId: 1 }

/** Merges what the table of a store has. The store gets one version more. */
export async function mergeTable(path: string): Promise<void> {
  const engine = openStateEngine({ path, durability: 'none', memoryTableBytes: 0 })
  await engine.commit([{ version: engine.ledger!.latestVersion + 1n, block: undefined, writes: [] }], CHAIN)
  await engine.close()
}

/** Writes the newest values of random keys again, until the table has so many bytes. */
export async function fillTable(path: string, workload: Workload, tableBytes: number): Promise<void> {
  const engine = openStateEngine({ path, durability: 'none', memoryTableBytes: 4 * tableBytes + 2 ** 20 })
  const random = createRandom(workload.seed)
  while (engine.stats.tableBytes < tableBytes) {
    await engine.commit(
      nextBlock(engine, () => workload.key(random.below(workload.keys))),
      CHAIN,
    )
  }
  await engine.close()
}

export function nextBlock(engine: StateEngine, chooseKey: () => Uint8Array): WorkloadVersion[] {
  const { latestVersion, latestBlock } = engine.ledger!
  const block = { ...latestBlock, height: latestBlock.height + 1n }
  return Array.from({ length: VERSIONS_PER_BLOCK }, (_, at) => {
    const keys = new Map(Array.from({ length: WRITES_PER_VERSION }, chooseKey).map((key) => [key.toString(), key]))
    const writes = [...keys.values()].map((key) => [key, VALUE] as const)
    return { version: latestVersion + 1n + BigInt(at), block: at === 0 ? block : undefined, writes }
  })
}
