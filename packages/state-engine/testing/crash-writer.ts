// Commits and prunes the known ledger until it is killed, or reaches a failpoint for the nth time and kills itself.
// Prints the latest version after each acknowledged commit.

import { importState } from '@ledger-state/engine'
import type { Failpoint } from '../src/failpoints/failpoints.js'
import { openWithFailpoints } from '../src/open-state-engine.js'
import { KNOWN_CHAIN, knownVersion } from './known-ledger.ts'

/** Most versions: far more than it takes to reach any failpoint eight times. */
const MOST_VERSIONS = 3_000n

const [path, killAt, times] = process.argv.slice(2) as [string, string?, string?]
let left = Number(times ?? 0)
function atFailpoint(point: Failpoint): void {
  if (point === killAt && --left <= 0) process.kill(process.pid, 'SIGKILL')
}

// The clock runs fast, so that a merge of a few keys takes many slices.
let now = 0
performance.now = () => {
  now += 5
  return now
}
// The memtable is small, so that there are many rotations, merges and bulk commits.
const engine = openWithFailpoints({ path, memtableBytes: 60_000, compress: 'always' }, atFailpoint)
if (killAt?.startsWith('import')) {
  const block = { height: 0n, epoch: 0n, timestampUsec: 0n }
  const entries = Array.from({ length: 12_000 }, (_, at) => ({
    key: Buffer.from(`key ${at}`),
    version: 0n,
    value: Buffer.from(`value ${at}`.padEnd(at % 100 === 0 ? 5_000 : 20)),
  }))
  await importState(engine, { chainId: 7, version: 0n, block }, entries)
  process.stdout.write('0\n')
} else {
  const first = engine.ledger ? engine.ledger.latestVersion + 1n : 0n
  for (let version = first; version < first + MOST_VERSIONS; ) {
    // Some batches are larger than a segment.
    const length = version % 80n === 0n ? 40 : 10
    const batch = Array.from({ length }, () => knownVersion(version++))
    await engine.commit(batch, KNOWN_CHAIN)
    process.stdout.write(`${version - 1n}\n`)
    if (version % 50n === 0n) await engine.prune(60n)
  }
}
