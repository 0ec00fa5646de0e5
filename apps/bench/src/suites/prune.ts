import { fork } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { openStateEngine } from '@ledger-state/state-engine'
import { megabytes, printTable } from './figures.js'
import {
  createRandom,
  createWorkload,
  VERSIONS_PER_BATCH,
  VERSIONS_PER_BLOCK,
  type WorkloadVersion,
} from './workload.js'

export interface PruneOptions {
  readonly keys: number
  /** How many windows of writes pass through the store. */
  readonly windows: number
}

const READER = fileURLToPath(new URL('./prune-reader.js', import.meta.url))

/** What pruning costs beside ingesting, what the file grows to under both, and what readers feel of it. */
export async function runPruneSuite({ keys, windows }: PruneOptions): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), 'bench-prune-'))
  try {
    const engine = openStateEngine({ path: folder, durability: 'none' })
    const source = steadyVersions(keys)
    const windowVersions = BigInt(keys)
    const ingest = async () => {
      const batch = Array.from({ length: VERSIONS_PER_BATCH }, () => source.next().value!)
      const began = performance.now()
      await engine.commit(batch, { chainId: 1 })
      return { milliseconds: performance.now() - began, writes: batch.length * 5 }
    }
    process.stderr.write(`filling a window of ${keys} versions …\n`)
    const rate = { ingestMs: 0, writes: 0, pruneMs: 0, dropped: 0 }
    const ingestWindow = async (prunes: boolean) => {
      for (let at = 0; at < keys; at += VERSIONS_PER_BATCH) {
        const { milliseconds, writes } = await ingest()
        rate.ingestMs += milliseconds
        rate.writes += writes
        if (!prunes) continue
        const began = performance.now()
        rate.dropped += (await engine.prune(windowVersions)).droppedEntries
        rate.pruneMs += performance.now() - began
      }
    }
    await ingestWindow(false)
    await ingestWindow(true)
    const firstBytes = engine.stats.fileBytes
    let mostBytes = firstBytes
    const reader = fork(READER, [folder, String(keys)])
    await once(reader, 'message')
    const quiet = await measureReads(reader)
    const stopBusy = measureReads(reader, true)
    for (let window = 0; window < windows; window++) {
      await ingestWindow(true)
      mostBytes = Math.max(mostBytes, engine.stats.fileBytes)
      process.stderr.write(`  window ${window + 1} of ${windows}: ${megabytes(engine.stats.fileBytes)}\n`)
    }
    reader.send('stop')
    const busy = await stopBusy
    reader.disconnect()
    const { problems } = await engine.check()
    if (problems.length > 0) throw new Error(`the store is damaged: ${problems.join('; ')}`)
    const perWrite = (rate.ingestMs * 1_000) / rate.writes
    const perDrop = (rate.pruneMs * 1_000) / rate.dropped
    printTable(
      ['ingest and prune by turns', ''],
      [
        ['ingest, µs a write', perWrite.toFixed(2)],
        ['prune, µs a dropped write', perDrop.toFixed(2)],
        ['prune ÷ ingest, writes a second', (perWrite / perDrop).toFixed(2)],
        ['file after the first full window', megabytes(firstBytes)],
        [
          `file at most in ${windows} windows more`,
          `${megabytes(mostBytes)} (${(mostBytes / firstBytes).toFixed(2)} ×)`,
        ],
        ['reads of another process, quiet: p50, p99', `${quiet.p50.toFixed(1)}, ${quiet.p99.toFixed(1)} µs`],
        [
          'while ingest and prune run: p50, p99',
          `${busy.p50.toFixed(1)}, ${busy.p99.toFixed(1)} µs (p99 ${(busy.p99 / quiet.p99).toFixed(2)} ×)`,
        ],
      ],
    )
    await engine.close()
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

interface Latencies {
  readonly p50: number
  readonly p99: number
}

async function measureReads(reader: ReturnType<typeof fork>, untilStopped = false): Promise<Latencies> {
  reader.send(untilStopped ? 'read until stopped' : 'read')
  const [latencies] = (await once(reader, 'message')) as [Latencies]
  return latencies
}

/** Versions without end that write each key as often as any other, so that a window always holds as much. */
function* steadyVersions(keys: number): Generator<WorkloadVersion, never> {
  const { key } = createWorkload(Math.min(keys, 1_000))
  const random = createRandom(5)
  const content = Buffer.alloc(4_096, 'steady')
  for (let number = 0; ; number++) {
    const written = new Set(Array.from({ length: 5 }, () => random(keys)))
    const height = BigInt(Math.floor(number / VERSIONS_PER_BLOCK))
    yield {
      version: BigInt(number),
      block: number % VERSIONS_PER_BLOCK === 0 ? { height, epoch: 0n, timestampUsec: height } : undefined,
      writes: [...written].map(
        (at) => [key(at), content.subarray(0, 8 + random(random(20) === 0 ? 3_000 : 300))] as const,
      ),
    }
  }
}
