import { fork } from 'node:child_process'
import { once } from 'node:events'
import { cpSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { openStateEngine } from '@ledger-state/state-engine'
import { createRandom } from '@ledger-state/testing/random'
import type { ReaderReport, ReaderTask } from '../lookup/lookup-reader.ts'
import { startReader } from '../lookup/reader-process.ts'
import { measureRows, type Row } from '../lookup/rows.ts'
import type { BenchRun } from '../run/bench-run.ts'
import type { Suite } from '../run/suite.ts'
import { openEngineStore } from '../stores/engine.ts'
import { openPlainLmdb } from '../stores/plain-lmdb.ts'
import { fillTable, mergeTable, nextBlock } from '../table/fill-table.ts'
import { createWorkload, type Workload } from '../workload/workload.ts'

/** Of the table in memory by default: a segment is sealed at half of its bytes. */
const SEGMENT_BYTES = 2 ** 25
const READERS = 4
/** Of the writer beside which a reader is measured, so that it merges all the time. */
const SMALL_TABLE_BYTES = 2 ** 21
const PROBE = fileURLToPath(new URL('../lookup/open-probe.ts', import.meta.url))

export const tableSuite: Suite = {
  name: 'table',
  summary: 'look-ups, memory and opening with the table in memory empty, half full and full; a reader beside merges',
  estimate: (scale) =>
    ({
      tiny: { minutes: 1, memoryBytes: 0.5e9, diskBytes: 0.1e9 },
      small: { minutes: 3, memoryBytes: 2e9, diskBytes: 1e9 },
      medium: { minutes: 10, memoryBytes: 4e9, diskBytes: 6e9 },
      large: { minutes: 60, memoryBytes: 8e9, diskBytes: 60e9 },
    })[scale],
  async run(run) {
    const ofScale = run.byScale({ tiny: 2_000, small: 100_000, medium: 1_000_000, large: 10_000_000 })
    const workload = createWorkload(run.keys ?? ofScale, run.seed)
    const folders = await fillStores(run, workload)
    await measureLookups(run, workload, folders)
    for (const { name, path } of folders) await measureReaders(run, workload, name, path)
    await measureBesideMerges(run, workload, folders[0]!.path)
  },
}

interface Filled {
  readonly name: string
  readonly path: string
}

/** The same store three times, with tables of other sizes. */
async function fillStores(run: BenchRun, workload: Workload): Promise<readonly Filled[]> {
  run.step(`${workload.keys} keys: writing ${workload.writes} writes`)
  const empty = run.folder('engine, table empty')
  const engine = openEngineStore(empty)
  const plain = openPlainLmdb(run.folder('plain'))
  for (const batch of workload.batches()) {
    run.throwIfInterrupted()
    await engine.ingest(batch)
    plain.ingest(batch)
  }
  await engine.close()
  await plain.close()
  await mergeTable(empty)
  const full = run.byScale({
    tiny: SEGMENT_BYTES / 64,
    small: SEGMENT_BYTES,
    medium: SEGMENT_BYTES,
    large: SEGMENT_BYTES,
  })
  const filled = [{ name: 'table empty', path: empty }]
  for (const [name, bytes] of [
    ['table half full', full / 2],
    ['table full', full],
  ] as const) {
    const path = run.folder(`engine, ${name}`)
    cpSync(empty, path, { recursive: true })
    await fillTable(path, workload, bytes)
    filled.push({ name, path })
  }
  return filled
}

async function measureLookups(run: BenchRun, workload: Workload, folders: readonly Filled[]): Promise<void> {
  const plain = openPlainLmdb(run.folder('plain'))
  const engines = folders.map(({ name, path }) => ({ name, store: openEngineStore(path) }))
  const { keys } = workload
  const count = run.byScale({ tiny: 1_000, small: 20_000, medium: 20_000, large: 20_000 })
  const questions = workload.questions(workload.mixed, count)
  const absent = workload.absentKeys(count).map((key) => ({ key, version: workload.latestVersion }))
  const floor: Row = { subject: 'lmdb, newest values only: getBinary', role: 'floor', read: plain.latest, store: plain }
  for (const [question, asked, method] of [
    ['latest', questions, 'latestPeek'],
    ['random version', questions, 'peekAtVersion'],
    ['never written', absent, 'latest'],
  ] as const) {
    const rows = engines.map(
      ({ name, store }): Row => ({ subject: `engine, ${name}`, role: 'ours', read: store[method], store }),
    )
    await measureRows(run, `${keys} keys: ${question}`, [floor, ...rows], asked, { keys, question })
  }
  for (const { store } of engines) await store.close()
  await plain.close()
}

interface ProbeReport {
  readonly openMs: number
  readonly addedBytes: number
}

/** Several processes at once, each of which opens the store and reads. */
async function measureReaders(run: BenchRun, { keys }: Workload, name: string, path: string): Promise<void> {
  run.step(`${keys} keys: ${READERS} readers, ${name}`)
  const first = await probe(path, keys)
  const reports = await Promise.all(Array.from({ length: READERS }, () => probe(path, keys)))
  const title = `${keys} keys: reader processes`
  const common = { title, subject: `engine, ${name}`, at: { keys } }
  run.record({ ...common, metric: 'until the first answer', unit: 'ms', rounds: first.openMs })
  const memory = reports.map(({ addedBytes }) => addedBytes)
  run.record({ ...common, metric: `memory of each of ${READERS}, without the map`, unit: 'B', rounds: memory })
}

async function probe(path: string, keys: number): Promise<ProbeReport> {
  const child = fork(PROBE, [path, String(keys)])
  const exited = once(child, 'exit')
  const [report] = (await once(child, 'message')) as [ProbeReport]
  await exited
  return report
}

/** A reader while nobody writes, and beside a writer that merges all the time, by turns. */
async function measureBesideMerges(run: BenchRun, workload: Workload, path: string): Promise<void> {
  const { keys, versions, classes } = workload
  const rounds = run.byScale({ tiny: 1, small: 5, medium: 5, large: 5 })
  const milliseconds = run.byScale({ tiny: 200, small: 3_000, medium: 3_000, large: 5_000 })
  const task = {
    kind: 'engine',
    path,
    keys,
    className: classes[1]!.name,
    at: 'random version',
    versions,
    count: 0,
  } as const
  const quiet: ReaderReport[] = []
  const merging: ReaderReport[] = []
  const longest: number[] = []
  for (let round = 0; round < rounds; round++) {
    run.step(`${keys} keys: a reader beside merges, round ${round + 1} of ${rounds}`)
    quiet.push(await readFor({ ...task, seed: round + 1 }, () => sleep(milliseconds)))
    const writing = async () => {
      longest.push(await commitFor(path, workload, milliseconds))
    }
    merging.push(await readFor({ ...task, seed: round + 1 }, writing))
  }
  const title = `${keys} keys: a reader beside a writer that merges`
  for (const [subject, role, reports] of [
    ['nobody writes', 'floor', quiet],
    ['blocks of 100 writes, merged all the time', 'ours', merging],
  ] as const) {
    for (const metric of ['p50', 'p99', 'p999'] as const) {
      const name = metric === 'p999' ? 'p99.9' : metric
      run.record({ title, subject, role, metric: name, unit: 'ns', rounds: reports.map((report) => report[metric]) })
    }
  }
  run.record({ title, subject: 'the writer', metric: 'longest commit', unit: 'ms', rounds: longest })
}

async function readFor(task: ReaderTask, meanwhile: () => Promise<void>): Promise<ReaderReport> {
  const reader = await startReader(task)
  reader.start()
  await meanwhile()
  reader.stop()
  const report = await reader.report()
  await reader.end()
  return report
}

/** Commits at a steady pace. Returns the milliseconds of the longest commit. */
async function commitFor(path: string, workload: Workload, milliseconds: number): Promise<number> {
  const engine = openStateEngine({ path, durability: 'none', memoryTableBytes: SMALL_TABLE_BYTES })
  const random = createRandom(workload.seed)
  let longest = 0
  for (const until = performance.now() + milliseconds; performance.now() < until; await sleep(20)) {
    const batch = nextBlock(engine, () => workload.key(random.below(workload.keys)))
    const began = performance.now()
    await engine.commit(batch, { chainId: 1 })
    longest = Math.max(longest, performance.now() - began)
  }
  await engine.close()
  return longest
}
