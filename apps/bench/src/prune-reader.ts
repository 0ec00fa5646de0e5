// Reads random keys at random versions of a store, in a process of its own, and tells how long each look-up took.
import { isLedgerStateError } from '@ledger-state/core'
import { openStateEngineReader } from '@ledger-state/state-engine'
import { createRandom, createWorkload } from './workload.js'

const QUIET_READS = 400_000
/** Tenths of a microsecond. What takes longer than the last counts as the last. */
const BUCKETS = 100_000
const [path, keyCount] = process.argv.slice(2) as [string, string]
const keys = Number(keyCount)
const reader = openStateEngineReader({ path })
const { key } = createWorkload(1_000)
const random = createRandom(9)
let stopped = false

async function read(count: number): Promise<void> {
  // Counted, not listed: to sort a list holds the event loop, and with it a snapshot of the store.
  const counts = new Uint32Array(BUCKETS)
  let reads = 0
  stopped = false
  while (!stopped && reads < count) {
    const { oldestVersion, latestVersion } = reader.ledger!
    const span = Number(latestVersion - oldestVersion) + 1
    for (let at = 0; at < 100; at++, reads++) {
      const wanted = key(random(keys))
      const version = oldestVersion + BigInt(random(span))
      const began = performance.now()
      try {
        reader.at(version).get(wanted)
      } catch (error) {
        // The pruner may have passed since the window was looked at.
        if (!isLedgerStateError(error, 'version_pruned')) throw error
      }
      counts[Math.min(BUCKETS - 1, Math.floor((performance.now() - began) * 10_000))]!++
    }
    await new Promise((resolve) => setImmediate(resolve))
  }
  process.send!({ reads, p50: microseconds(counts, reads * 0.5), p99: microseconds(counts, reads * 0.99) })
}

/** Below which so many of the reads are. */
function microseconds(counts: Uint32Array, reads: number): number {
  let below = 0
  const bucket = counts.findIndex((count) => {
    below += count
    return below >= reads
  })
  return bucket / 10
}

process.on('message', (message) => {
  if (message === 'stop') stopped = true
  else void read(message === 'read' ? QUIET_READS : Number.POSITIVE_INFINITY)
})
process.on('disconnect', () => process.exit())
process.send!('ready')
