// A process that writes the store while others read it, as the writer of a node does. Argument: the folder of the
// store. Messages of the parent contain the writes.
import { setPriority } from 'node:os'
import { setTimeout as sleep } from 'node:timers/promises'
import { openStateEngine } from '@ledger-state/state-engine'
import { createRandom } from '@ledger-state/testing/random'
import type { WorkloadVersion } from '../workload/workload.ts'
import { SERVED_KEYS } from './served-store.ts'

export type WriterLoad = 'nobody writes' | 'ingest' | 'ingest and prune'

/** Niceness of the process, the same as in `ledger-state serve`. */
const NICENESS = 5
const WINDOW_VERSIONS = 2_000n
const BATCH_VERSIONS = 50
const WRITES_PER_VERSION = 5
const PAUSE_MS = 20

const engine = openStateEngine({ path: process.argv[2]! })
const random = createRandom(23)
const { latestVersion, latestBlock, chainId } = engine.ledger!
let next = latestVersion + 1n
let { height } = latestBlock
let load: WriterLoad = 'nobody writes'
let isOver = false

function itemKey(at: number): Buffer {
  const bytes = Buffer.alloc(41)
  bytes[0] = 1
  bytes[32] = 8
  bytes.writeUInt32LE(at, 33)
  return bytes
}

function makeBatch(): WorkloadVersion[] {
  return Array.from({ length: BATCH_VERSIONS }, () => {
    height++
    const written = new Set(Array.from({ length: WRITES_PER_VERSION }, () => random.below(SERVED_KEYS)))
    const writes = [...written].map((at) => [itemKey(at), Buffer.alloc(41, at & 0xff)] as const)
    return { version: next++, block: { height, epoch: 0n, timestampUsec: height }, writes }
  })
}

setPriority(NICENESS)
process.on('message', (message) => {
  load = message as WriterLoad
})
process.on('disconnect', () => {
  isOver = true
})
process.send!('open')
while (!isOver) {
  if (load !== 'nobody writes') {
    const batch = makeBatch()
    const writes = batch.reduce((sum, version) => sum + version.writes.length, 0)
    await engine.commit(batch, { chainId })
    if (load === 'ingest and prune') await engine.prune(WINDOW_VERSIONS, { maxEntries: 2 * writes })
  }
  await sleep(PAUSE_MS)
}
await engine.close()
