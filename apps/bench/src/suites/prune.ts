import { readdirSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'
import { openStateEngine } from '@ledger-state/state-engine'
import type { ReaderReport } from '../lookup/lookup-reader.ts'
import { startReader } from '../lookup/reader-process.ts'
import type { BenchRun } from '../run/bench-run.ts'
import { cpuMicroseconds } from '../run/cpu-time.ts'
import type { Suite } from '../run/suite.ts'
import { steadyVersions } from '../workload/steady-versions.ts'
import { VERSIONS_PER_BATCH } from '../workload/workload.ts'

const TITLE = 'ingest and prune in turns'
const TABLE_BYTES_PER_KEY = 300

export const pruneSuite: Suite = {
  name: 'prune',
  summary: 'pruning during ingesting, the size of the file under both, and the latencies of a reader meanwhile',
  estimate: (scale) =>
    ({
      tiny: { minutes: 1, memoryBytes: 0.3e9, diskBytes: 0.1e9 },
      small: { minutes: 3, memoryBytes: 1e9, diskBytes: 1e9 },
      medium: { minutes: 15, memoryBytes: 2e9, diskBytes: 6e9 },
      large: { minutes: 60, memoryBytes: 4e9, diskBytes: 30e9 },
    })[scale],
  charts: [
    {
      title: 'Size of the file under a steady load',
      metric: 'size of the file',
      x: 'window',
      caption: 'Windows of versions after the first; each is pruned while the next is ingested.',
    },
    {
      title: 'Throughput of ingest and prune',
      metric: 'CPU time of a write',
      x: 'window',
      caption: 'Ingesting a write and dropping one, for each window.',
    },
  ],
  async run(run) {
    const keys = run.byScale({ tiny: 5_000, small: 50_000, medium: 200_000, large: 1_000_000 })
    const windows = run.byScale({ tiny: 3, small: 20, medium: 20, large: 10 })
    await measure(run, keys, windows)
  },
}

/**
 * Waits until merges are done. A merge continues while the store is pruned, and its cost would count as cost of the
 * prune. Looking each millisecond takes a tenth of the CPU time of an ingest.
 */
async function mergesDone(path: string): Promise<void> {
  const files = () => readdirSync(path).filter((name) => name.startsWith('write-ahead-'))
  while (files().length > 1) await sleep(20)
}

async function measure(run: BenchRun, keys: number, windows: number): Promise<void> {
  const path = run.folder('prune')
  // A table of a quarter of a window's writes. Writes that become obsolete in the table are never pruned, and writes
  // that are merged together are pruned together.
  const engine = openStateEngine({ path, durability: 'none', memtableBytes: TABLE_BYTES_PER_KEY * keys })
  const source = steadyVersions(keys)
  const windowVersions = BigInt(keys)
  const passWindow = async (prunes: boolean) => {
    const cost = { ingest: 0, writes: 0, prune: 0, dropped: 0 }
    for (let at = 0; at < keys; at += VERSIONS_PER_BATCH) {
      const batch = Array.from({ length: VERSIONS_PER_BATCH }, () => source.next().value)
      cost.ingest += await cpuMicroseconds(async () => {
        await engine.commit(batch, { chainId: 1 })
        await mergesDone(path)
      })
      cost.writes += batch.reduce((sum, { writes }) => sum + writes.length, 0)
      if (!prunes) continue
      cost.prune += await cpuMicroseconds(async () => {
        cost.dropped += (await engine.prune(windowVersions)).droppedEntries
      })
    }
    return { ingest: cost.ingest / cost.writes, prune: cost.prune / cost.dropped }
  }
  run.step(`filling a window of ${keys} versions`)
  await passWindow(false)
  await passWindow(true)
  const task = { kind: 'engine', path, keys, className: '1', at: 'random version', versions: keys, seed: 9 } as const
  const reader = await startReader({ ...task, count: 0 })
  const quiet: ReaderReport[] = []
  const busy: ReaderReport[] = []
  for (let segment = 0; segment < Math.min(5, windows); segment++) {
    reader.start()
    await new Promise((resolve) =>
      setTimeout(resolve, run.byScale({ tiny: 100, small: 1_000, medium: 2_000, large: 2_000 })),
    )
    reader.stop()
    quiet.push(await reader.report())
  }
  const costs = { ingest: [] as number[], prune: [] as number[] }
  const firstBytes = engine.stats.fileBytes
  let mostBytes = firstBytes
  for (let window = 1; window <= windows; window++) {
    run.step(`window ${window} of ${windows}`)
    reader.start()
    const { ingest, prune } = await passWindow(true)
    reader.stop()
    busy.push(await reader.report())
    costs.ingest.push(ingest)
    costs.prune.push(prune)
    const { fileBytes } = engine.stats
    mostBytes = Math.max(mostBytes, fileBytes)
    const byWindow = {
      title: 'by window',
      unit: 'µs',
      metric: 'CPU time of a write',
      at: { window },
      plotOnly: true,
    }
    run.record({ ...byWindow, subject: 'ingest', rounds: ingest })
    run.record({ ...byWindow, subject: 'prune', rounds: prune })
    run.record({ ...byWindow, subject: 'the file', metric: 'size of the file', unit: 'B', rounds: fileBytes })
  }
  await reader.end()
  const { problems } = await engine.check()
  if (problems.length > 0) throw new Error(`the store is damaged: ${problems.join('; ')}`)
  await engine.close()
  const metric = 'CPU time of a write'
  run.record({ title: TITLE, subject: 'ingest', role: 'floor', metric, unit: 'µs', rounds: costs.ingest })
  run.record({ title: TITLE, subject: 'prune, for each dropped write', metric, unit: 'µs', rounds: costs.prune })
  const growth = `the largest size of the file in ${windows} further windows`
  run.record({
    title: 'size under a steady load',
    subject: growth,
    metric: '× its size after the first two',
    unit: '×',
    rounds: mostBytes / firstBytes,
  })
  const reads = 'look-ups in another process at random versions'
  for (const [subject, role, reports] of [
    ['nobody writes', 'floor', quiet],
    ['ingest and prune run', 'ours', busy],
  ] as const) {
    for (const [metric, percentile] of [
      ['p50', 'p50'],
      ['p99', 'p99'],
      ['p99.9', 'p999'],
    ] as const) {
      const rounds = reports.map((report) => report[percentile])
      run.record({ title: reads, subject, role, metric, unit: 'ns', rounds })
    }
  }
}
