import { readdirSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'
import { openStateEngine, type StateEngine } from '@ledger-state/state-engine'
import type { ReaderReport } from '../lookup/lookup-reader.ts'
import { type ReaderProcess, startReader } from '../lookup/reader-process.ts'
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

const CPU_OF_WRITE = 'CPU time of a write'

/** CPU time in microseconds of ingesting a write, and of dropping one. */
interface WindowCost {
  readonly ingest: number
  readonly prune: number
}

/** Costs and sizes of successive windows. */
interface Windows {
  readonly costs: readonly WindowCost[]
  /** Look-ups during each window. */
  readonly busy: readonly ReaderReport[]
  /** Largest size of the file, as a multiple of its size before. */
  readonly growth: number
}

async function measure(run: BenchRun, keys: number, windows: number): Promise<void> {
  const path = run.folder('prune')
  // A table of a quarter of a window's writes. Writes that become obsolete in the table are never pruned, and writes
  // that are merged together are pruned together.
  const engine = openStateEngine({ path, durability: 'none', memtableBytes: TABLE_BYTES_PER_KEY * keys })
  const source = steadyVersions(keys)
  const passWindow = (prunes: boolean) => ingestWindow(engine, source, { path, keys, prunes })
  run.step(`filling a window of ${keys} versions`)
  await passWindow(false)
  await passWindow(true)
  const task = { kind: 'engine', path, keys, className: '1', at: 'random version', versions: keys, seed: 9 } as const
  const reader = await startReader({ ...task, count: 0 })
  const quiet = await readQuietly(run, reader, Math.min(5, windows))
  const measured = await measureWindows(run, windows, { engine, reader, pass: () => passWindow(true) })
  await reader.end()
  const { problems } = await engine.check()
  if (problems.length > 0) throw new Error(`the store is damaged: ${problems.join('; ')}`)
  await engine.close()
  recordCosts(run, measured, windows)
  recordReads(run, quiet, measured.busy)
}

interface WindowOptions {
  readonly path: string
  readonly keys: number
  readonly prunes: boolean
}

async function ingestWindow(
  engine: StateEngine,
  source: ReturnType<typeof steadyVersions>,
  { path, keys, prunes }: WindowOptions,
): Promise<WindowCost> {
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
      cost.dropped += (await engine.prune(BigInt(keys))).droppedEntries
    })
  }
  return { ingest: cost.ingest / cost.writes, prune: cost.prune / cost.dropped }
}

/** Look-ups while nobody writes. */
async function readQuietly(run: BenchRun, reader: ReaderProcess, segments: number): Promise<ReaderReport[]> {
  const quiet: ReaderReport[] = []
  for (let segment = 0; segment < segments; segment++) {
    reader.start()
    await sleep(run.byScale({ tiny: 100, small: 1_000, medium: 2_000, large: 2_000 }))
    reader.stop()
    quiet.push(await reader.report())
  }
  return quiet
}

interface MeasuredStore {
  readonly engine: StateEngine
  readonly reader: ReaderProcess
  readonly pass: () => Promise<WindowCost>
}

async function measureWindows(
  run: BenchRun,
  windows: number,
  { engine, reader, pass }: MeasuredStore,
): Promise<Windows> {
  const costs: WindowCost[] = []
  const busy: ReaderReport[] = []
  const firstBytes = engine.stats.fileBytes
  let mostBytes = firstBytes
  for (let window = 1; window <= windows; window++) {
    run.step(`window ${window} of ${windows}`)
    reader.start()
    const cost = await pass()
    reader.stop()
    busy.push(await reader.report())
    costs.push(cost)
    const { fileBytes } = engine.stats
    mostBytes = Math.max(mostBytes, fileBytes)
    const byWindow = { title: 'by window', unit: 'µs', metric: CPU_OF_WRITE, at: { window }, plotOnly: true }
    run.record({ ...byWindow, subject: 'ingest', rounds: cost.ingest })
    run.record({ ...byWindow, subject: 'prune', rounds: cost.prune })
    run.record({ ...byWindow, subject: 'the file', metric: 'size of the file', unit: 'B', rounds: fileBytes })
  }
  return { costs, busy, growth: mostBytes / firstBytes }
}

function recordCosts(run: BenchRun, { costs, growth }: Windows, windows: number): void {
  const row = { title: TITLE, metric: CPU_OF_WRITE, unit: 'µs' }
  run.record({ ...row, subject: 'ingest', role: 'floor', rounds: costs.map(({ ingest }) => ingest) })
  run.record({ ...row, subject: 'prune, for each dropped write', rounds: costs.map(({ prune }) => prune) })
  run.record({
    title: 'size under a steady load',
    subject: `the largest size of the file in ${windows} further windows`,
    metric: '× its size after the first two',
    unit: '×',
    rounds: growth,
  })
}

function recordReads(run: BenchRun, quiet: readonly ReaderReport[], busy: readonly ReaderReport[]): void {
  const title = 'look-ups in another process at random versions'
  for (const [subject, role, reports] of [
    ['nobody writes', 'floor', quiet],
    ['ingest and prune run', 'ours', busy],
  ] as const) {
    for (const [metric, percentile] of [
      ['p50', 'p50'],
      ['p99', 'p99'],
      ['p99.9', 'p999'],
    ] as const) {
      run.record({ title, subject, role, metric, unit: 'ns', rounds: reports.map((report) => report[percentile]) })
    }
  }
}
