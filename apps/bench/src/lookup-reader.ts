// Reads a store in a process of its own: cold, beside others like it, or while it is written. Told what by its argument.
import { join } from 'node:path'
import { isLedgerStateError } from '@ledger-state/core'
import { openStateEngineReader } from '@ledger-state/state-engine'
import { build, type Histogram } from 'hdr-histogram-js'
import { openBareLmdb } from './stores/bare-lmdb.js'
import { PEERS, type PeerName } from './stores/peers.js'
import { PLAIN_FILE } from './stores/plain-lmdb.js'
import { toShortKey } from './stores/short-key.js'
import { classesOf, createRandom, keyBytes } from './workload.js'

export interface ReaderTask {
  readonly kind: 'engine' | 'plain' | PeerName
  readonly path: string
  /** Of the workload, and of the class that is read. */
  readonly keys: number
  readonly className: string
  readonly at: 'latest' | 'random version'
  /** Of the workload; the engine knows its own. */
  readonly versions: number
  /** Look-ups before the answer, or 0 to read until told to stop. */
  readonly count: number
  readonly seed: number
}

export interface ReaderReport {
  readonly reads: number
  readonly seconds: number
  /** Nanoseconds. */
  readonly p50: number
  readonly p99: number
  readonly p999: number
  readonly mean: number
}

const READS_BETWEEN_TURNS = 100

const task = JSON.parse(process.argv[2]!) as ReaderTask
const { firstKey, keys } = classesOf(task.keys).find(({ name }) => name === task.className)!
const random = createRandom(task.seed)
const { read, close } = await openSource(task.kind)
let stopped = false

interface Source {
  /** One look-up. */
  read(): unknown
  close(): unknown
}

function openSource(kind: ReaderTask['kind']): Source | Promise<Source> {
  if (kind === 'engine') return openEngine()
  return kind === 'plain' ? openPlain() : openPeer(kind)
}

function openEngine(): Source {
  const reader = openStateEngineReader({ path: task.path })
  return {
    read() {
      const key = keyBytes(firstKey + random(keys))
      if (task.at === 'latest') return reader.at().peek(key)
      const { oldestVersion, latestVersion } = reader.ledger!
      try {
        return reader.at(oldestVersion + BigInt(random(Number(latestVersion - oldestVersion) + 1))).peek(key)
      } catch (error) {
        // The pruner may have passed since the window was looked at.
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
    read: () => database.getBinaryFast(toShortKey(keyBytes(firstKey + random(keys)))),
    close: () => database.close(),
  }
}

async function openPeer(kind: PeerName): Promise<Source> {
  const store = await PEERS[kind].open(task.path)
  return {
    read: () => store.atVersion!([{ key: keyBytes(firstKey + random(keys)), version: BigInt(random(task.versions)) }]),
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
  process.send!({
    reads,
    seconds: (performance.now() - began) / 1_000,
    p50: percentile(50),
    p99: percentile(99),
    p999: percentile(99.9),
    mean: histogram.mean,
  } satisfies ReaderReport)
}

process.on('message', (message) => {
  if (message === 'stop') stopped = true
  else void run()
})
process.on('disconnect', async () => {
  // A server has to be told to end.
  await close()
  process.exit()
})
process.send!('ready')
