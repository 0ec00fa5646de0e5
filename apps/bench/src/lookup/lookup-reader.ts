// A process that reads a store: cold, together with other readers, or while the store is written. Argument: a
// `ReaderTask` as JSON.
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { isLedgerStateError } from '@ledger-state/core'
import { openStateEngineReader } from '@ledger-state/state-engine'
import { createRandom } from '@ledger-state/testing/random'
import { build, type Histogram } from 'hdr-histogram-js'
import { openBareLmdb } from '../stores/bare-lmdb.ts'
import { PEERS, type PeerName } from '../stores/peers.ts'
import { PLAIN_FILE } from '../stores/plain-lmdb.ts'
import { toShortKey } from '../stores/short-key.ts'
import { classesOf, keyBytes } from '../workload/workload.ts'

export interface ReaderTask {
  readonly kind: 'engine' | 'plain' | PeerName
  readonly path: string
  /** Number of keys of the workload. */
  readonly keys: number
  /** Class of the keys to read. */
  readonly className: string
  readonly at: 'latest' | 'random version'
  /** Number of versions of the workload; for peers, because the engine knows its versions itself. */
  readonly versions: number
  /** Look-ups before it reports; 0 means that it reads until it is stopped. */
  readonly count: number
  readonly seed: number
}

export interface ReaderReport {
  readonly reads: number
  readonly seconds: number
  /** Median in nanoseconds. */
  readonly p50: number
  readonly p99: number
  readonly p999: number
  readonly mean: number
  /** Calls of the system that read a file, and pages that a map had to wait for, for each look-up. */
  readonly fileReads: number
  /** Pages of 4 KiB that came from the disk, for each look-up. */
  readonly diskPages: number
}

const READS_BETWEEN_TURNS = 100

const task = JSON.parse(process.argv[2]!) as ReaderTask
const { firstKey, keys } = classesOf(task.keys).find(({ name }) => name === task.className)!
const random = createRandom(task.seed)
const { read, close } = await openSource(task.kind)
let stopped = false

interface Source {
  /** Does one look-up. */
  read(): unknown
  close(): unknown
}

function openSource(kind: ReaderTask['kind']): Source | Promise<Source> {
  if (kind === 'engine') return openEngine()
  return kind === 'plain' ? openPlain() : openPeer(kind)
}

function openEngine(): Source {
  const reader = openStateEngineReader({ path: task.path })
  // Its files are opened by the first read, which also indexes the newest commits: measured as the opening. The other stores
  // do that when they are opened, too.
  if (!reader.ledger) throw new Error(`there is no ledger in ${task.path}`)
  return {
    read() {
      const key = keyBytes(firstKey + random.below(keys))
      if (task.at === 'latest') return reader.at().peek(key)
      const { oldestVersion, latestVersion } = reader.ledger!
      try {
        return reader.at(oldestVersion + BigInt(random.below(Number(latestVersion - oldestVersion) + 1))).peek(key)
      } catch (error) {
        // The writer may have pruned this version since `oldestVersion` was read.
        if (!isLedgerStateError(error, 'version_pruned')) throw error
        return undefined
      }
    },
    close: () => reader.close(),
  }
}

function openPlain(): Source {
  const database = openBareLmdb(join(task.path, PLAIN_FILE), { readOnly: true })
  return {
    read: () => database.getBinaryFast(toShortKey(keyBytes(firstKey + random.below(keys)))),
    close: () => database.close(),
  }
}

async function openPeer(kind: PeerName): Promise<Source> {
  const store = await PEERS[kind].open(task.path)
  return {
    read: () =>
      store.atVersion!([
        { key: keyBytes(firstKey + random.below(keys)), version: BigInt(random.below(task.versions)) },
      ]),
    close: () => store.close(),
  }
}

async function run(): Promise<void> {
  const histogram: Histogram = build({
    lowestDiscernibleValue: 1,
    highestTrackableValue: 1e10,
    numberOfSignificantValueDigits: 3,
  })
  const began = performance.now()
  const before = readsOfProcess()
  let reads = 0
  stopped = false
  while (!stopped && (task.count === 0 || reads < task.count)) {
    for (let at = 0; at < READS_BETWEEN_TURNS; at++, reads++) {
      const started = process.hrtime.bigint()
      const answer = read()
      if (answer instanceof Promise) await answer
      histogram.recordValue(Number(process.hrtime.bigint() - started))
    }
    await new Promise((resolve) => setImmediate(resolve))
  }
  const percentile = (share: number) => histogram.getValueAtPercentile(share)
  const after = readsOfProcess()
  process.send!({
    reads,
    fileReads: (after.fileReads - before.fileReads) / reads,
    diskPages: (after.diskPages - before.diskPages) / reads,
    seconds: (performance.now() - began) / 1_000,
    p50: percentile(50),
    p99: percentile(99),
    p999: percentile(99.9),
    mean: histogram.mean,
  } satisfies ReaderReport)
}

/** Reads of this process so far; NaN on systems that do not count them. */
function readsOfProcess(): { readonly fileReads: number; readonly diskPages: number } {
  try {
    const counters = readFileSync('/proc/self/io', 'utf8')
    const counter = (name: string) => Number(new RegExp(`^${name}: (\\d+)$`, 'm').exec(counters)?.[1])
    const { majorPageFault } = process.resourceUsage()
    return { fileReads: counter('syscr') + majorPageFault, diskPages: counter('read_bytes') / 4_096 }
  } catch {
    return { fileReads: Number.NaN, diskPages: Number.NaN }
  }
}

process.on('message', (message) => {
  if (message === 'stop') stopped = true
  else void run()
})
process.on('disconnect', async () => {
  // A store that runs a server must stop it.
  await close()
  process.exit()
})
process.send!('ready')
