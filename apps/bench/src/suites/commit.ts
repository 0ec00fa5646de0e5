import { join } from 'node:path'
import { openStateEngine } from '@ledger-state/state-engine'
import { open } from 'lmdb'
import type { BenchRun } from '../run/bench-run.ts'
import { cpuMicroseconds } from '../run/cpu-time.ts'
import type { Suite } from '../run/suite.ts'
import { openEngineStore } from '../stores/engine.ts'
import { openPlainLmdb } from '../stores/plain-lmdb.ts'
import { toShortKey } from '../stores/short-key.ts'
import { createWorkload, VERSIONS_PER_BLOCK, type WorkloadVersion } from '../workload/workload.ts'

export const commitSuite: Suite = {
  name: 'commit',
  summary: 'batches and durable blocks compared with bare lmdb; bytes on disk',
  estimate: (scale) =>
    ({
      tiny: { minutes: 1, memoryBytes: 0.3e9, diskBytes: 0.1e9 },
      small: { minutes: 1, memoryBytes: 1e9, diskBytes: 1e9 },
      medium: { minutes: 4, memoryBytes: 2e9, diskBytes: 6e9 },
      large: { minutes: 30, memoryBytes: 4e9, diskBytes: 20e9 },
    })[scale],
  charts: [
    {
      title: 'Bytes on disk, by database',
      metric: 'size',
      x: 'subject',
      where: { part: 'database' },
      caption: 'Newest values, the log of superseded values, and the indexes.',
    },
  ],
  async run(run) {
    const keys = run.byScale({ tiny: 2_000, small: 100_000, medium: 1_000_000, large: 10_000_000 })
    await measureBatches(run, keys)
    await measureDurable(run)
  },
}

/** Measures without fsync and in CPU time, which other processes disturb least. */
async function measureBatches(run: BenchRun, keys: number): Promise<void> {
  const workload = createWorkload(keys, run.seed)
  const engine = openEngineStore(run.folder('engine'))
  const plain = openPlainLmdb(run.folder('plain'))
  run.step(`writing ${workload.writes} writes in batches of 1,000 versions`)
  const costs = { engine: [] as number[], plain: [] as number[] }
  let batches = 0
  for (const batch of workload.batches()) {
    const writes = batch.reduce((sum, one) => sum + one.writes.length, 0)
    costs.engine.push((await cpuMicroseconds(() => engine.ingest(batch))) / writes)
    costs.plain.push((await cpuMicroseconds(() => plain.ingest(batch))) / writes)
    if (++batches % 200 === 0) run.step(`${batches * 1_000} versions written`)
  }
  const title = `${keys} keys: batches of 1,000 versions × 5 writes, no fsync`
  const metric = 'CPU time of a write'
  run.record({ title, subject: 'engine', metric, unit: 'µs', rounds: costs.engine, at: { keys } })
  run.record({
    title,
    subject: 'lmdb, puts of the newest values',
    role: 'floor',
    metric,
    unit: 'µs',
    rounds: costs.plain,
    at: { keys },
  })
  const { stats } = engine.engine
  const sizes = `${keys} keys: on disk`
  run.record({
    title: sizes,
    subject: 'live pages',
    metric: 'per payload byte',
    unit: '×',
    rounds: engine.usedBytes() / stats.payloadBytes,
  })
  for (const { level, fileBytes, writes } of stats.levels) {
    const common = { title: sizes, subject: `level ${level}`, better: 'neither' as const, at: { part: 'level' } }
    run.record({ ...common, metric: 'size', unit: 'B', rounds: fileBytes })
    run.record({ ...common, metric: 'writes', unit: '', rounds: writes })
  }
  await engine.close()
  await plain.close()
}

async function measureDurable(run: BenchRun): Promise<void> {
  const commits = run.byScale({ tiny: 10, small: 200, medium: 200, large: 200 })
  run.step(`${commits} durable commits`)
  const engine = openStateEngine({ path: run.folder('durable') })
  const bare = open<Buffer, Uint8Array>({
    path: join(run.folder('bare'), 'bare.mdb'),
    encoding: 'binary',
    keyEncoding: 'binary',
    noSubdir: true,
    overlappingSync: false,
  })
  const samples = { engine: [] as number[], bare: [] as number[] }
  for (const block of blocksOf(20_000, run.seed, commits)) {
    const [key, value] = block[0]!.writes[0]!
    let began = performance.now()
    await engine.commit(block, { chainId: 1 })
    samples.engine.push((performance.now() - began) * 1_000)
    began = performance.now()
    bare.transactionSync(() => bare.putSync(toShortKey(key), Buffer.from(value ?? [])))
    samples.bare.push((performance.now() - began) * 1_000)
  }
  const title = 'one durable commit'
  const subject = `engine, a block of ${VERSIONS_PER_BLOCK} versions × 5 writes`
  run.record({ title, subject, metric: 'time', unit: 'µs', rounds: samples.engine })
  run.record({ title, subject: 'lmdb, one put', role: 'floor', metric: 'time', unit: 'µs', rounds: samples.bare })
  await engine.close()
  await bare.close()
}

function blocksOf(keys: number, seed: number, count: number): WorkloadVersion[][] {
  const blocks: WorkloadVersion[][] = []
  for (const batch of createWorkload(keys, seed).batches()) {
    for (let at = 0; at < batch.length; at += VERSIONS_PER_BLOCK) blocks.push(batch.slice(at, at + VERSIONS_PER_BLOCK))
    if (blocks.length >= count) return blocks.slice(0, count)
  }
  return blocks
}
