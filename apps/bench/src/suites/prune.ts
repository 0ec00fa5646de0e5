import { openStateEngine } from '@ledger-state/state-engine'
import type { BenchRun, Suite } from '../bench-run.js'
import { startReader } from '../reader-process.js'
import { steadyVersions } from '../steady-versions.js'
import { VERSIONS_PER_BATCH } from '../workload.js'

const TITLE = 'ingest and prune by turns'

export const pruneSuite: Suite = {
  name: 'prune',
  summary: 'pruning beside ingesting, what the file grows to under both, and what a reader feels of them',
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
      caption: 'Windows of writes that passed through after the first; each is pruned as the next comes.',
    },
    {
      title: 'Throughput of ingest and prune',
      metric: 'time of a write',
      x: 'window',
      caption: 'A write taken in, and one dropped, window by window.',
    },
  ],
  async run(run) {
    const keys = run.byScale({ tiny: 5_000, small: 50_000, medium: 200_000, large: 1_000_000 })
    const windows = run.byScale({ tiny: 3, small: 20, medium: 20, large: 10 })
    await measure(run, keys, windows)
  },
}

async function measure(run: BenchRun, keys: number, windows: number): Promise<void> {
  const path = run.folder('prune')
  const engine = openStateEngine({ path, durability: 'none' })
  const source = steadyVersions(keys)
  const windowVersions = BigInt(keys)
  const passWindow = async (prunes: boolean) => {
    const cost = { ingestMs: 0, writes: 0, pruneMs: 0, dropped: 0 }
    for (let at = 0; at < keys; at += VERSIONS_PER_BATCH) {
      const batch = Array.from({ length: VERSIONS_PER_BATCH }, () => source.next().value)
      let began = performance.now()
      await engine.commit(batch, { chainId: 1 })
      cost.ingestMs += performance.now() - began
      cost.writes += batch.length * 5
      if (!prunes) continue
      began = performance.now()
      cost.dropped += (await engine.prune(windowVersions)).droppedEntries
      cost.pruneMs += performance.now() - began
    }
    return { ingest: (cost.ingestMs * 1_000) / cost.writes, prune: (cost.pruneMs * 1_000) / cost.dropped }
  }
  run.step(`filling a window of ${keys} versions`)
  await passWindow(false)
  await passWindow(true)
  const task = { kind: 'engine', path, keys, className: '1', at: 'random version', seed: 9 } as const
  const quiet = await startReader({
    ...task,
    count: run.byScale({ tiny: 2_000, small: 400_000, medium: 400_000, large: 400_000 }),
  })
  quiet.start()
  const before = await quiet.report()
  quiet.end()
  const busy = await startReader({ ...task, count: 0 })
  busy.start()
  const costs = { ingest: [] as number[], prune: [] as number[] }
  const firstBytes = engine.stats.fileBytes
  let mostBytes = firstBytes
  for (let window = 1; window <= windows; window++) {
    run.step(`window ${window} of ${windows}`)
    const { ingest, prune } = await passWindow(true)
    costs.ingest.push(ingest)
    costs.prune.push(prune)
    const { fileBytes } = engine.stats
    mostBytes = Math.max(mostBytes, fileBytes)
    const byWindow = {
      title: 'window by window',
      unit: 'µs',
      metric: 'time of a write',
      at: { window },
      plotOnly: true,
    }
    run.record({ ...byWindow, subject: 'ingest', rounds: ingest })
    run.record({ ...byWindow, subject: 'prune', rounds: prune })
    run.record({ ...byWindow, subject: 'the file', metric: 'size of the file', unit: 'B', rounds: fileBytes })
  }
  busy.stop()
  const during = await busy.report()
  busy.end()
  const { problems } = await engine.check()
  if (problems.length > 0) throw new Error(`the store is damaged: ${problems.join('; ')}`)
  await engine.close()
  const metric = 'time of a write'
  run.record({ title: TITLE, subject: 'ingest', role: 'floor', metric, unit: 'µs', rounds: costs.ingest })
  run.record({ title: TITLE, subject: 'prune, of a dropped write', metric, unit: 'µs', rounds: costs.prune })
  const growth = `the file at most in ${windows} windows more`
  run.record({
    title: 'size under a steady load',
    subject: growth,
    metric: '× its size after the first',
    unit: '×',
    rounds: mostBytes / firstBytes,
  })
  const reads = 'look-ups of another process at random versions'
  for (const [subject, report] of [
    ['nobody writes', before],
    ['ingest and prune run', during],
  ] as const) {
    for (const percentile of ['p50', 'p99', 'p999'] as const) {
      run.record({
        title: reads,
        subject,
        metric: percentile === 'p999' ? 'p99.9' : percentile,
        unit: 'ns',
        rounds: report[percentile],
      })
    }
  }
}
