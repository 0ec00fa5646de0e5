import { fork } from 'node:child_process'
import { once } from 'node:events'
import { cpSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { openStateEngine } from '@ledger-state/state-engine'
import type { Measure, Role } from '../report/measure.ts'
import type { BenchRun } from '../run/bench-run.ts'
import { isPeerName, PEER_NAMES, PEERS } from '../stores/peers.ts'
import type { Workload, WorkloadVersion } from '../workload/workload.ts'
import type { StoreFolder } from './contestants.ts'
import type { ReaderReport, ReaderTask } from './lookup-reader.ts'
import { dropFromPageCache, startReader } from './reader-process.ts'

const SUBJECTS: readonly (readonly [StoreFolder, Role, string])[] = [
  ['engine', 'ours', 'engine: peek'],
  ['plain', 'floor', 'lmdb, newest values only: getBinaryFast'],
  ...PEER_NAMES.map((name) => [name, 'peer', PEERS[name].title] as const),
]

const READERS = [1, 2, 4]

/** Measures in a new process, with nothing of the store in the page cache. */
export async function measureCold(
  run: BenchRun,
  folders: ReadonlyMap<StoreFolder, string>,
  workload: Workload,
  isMain: boolean,
): Promise<void> {
  const { keys } = workload
  const subjects = subjectsOf(folders, workload)
  if (subjects.every(({ task: { path } }) => dropFromPageCache(path))) {
    const count = run.byScale({ tiny: 200, small: 2_000, medium: 5_000, large: 5_000 })
    const title = `${keys} keys: page cache dropped, single look-ups`
    const cold = subjects.map((one) => ({ ...one, task: { ...one.task, count } }))
    const at = { keys, cold: 'yes', ...(isMain && { main: 'yes' }) }
    await measureReaders(run, { title, subjects: cold, readers: 1, isCold: true, at })
  } else run.note('cold look-ups are left out: the page cache cannot be dropped here')
  await measureOpening(run, folders.get('engine')!, keys)
}

/** Measures with several reader processes while another process writes the store. */
export async function measureProcesses(
  run: BenchRun,
  folders: ReadonlyMap<StoreFolder, string>,
  workload: Workload,
): Promise<void> {
  const { keys } = workload
  const subjects = subjectsOf(folders, workload)
  const shared = subjects.filter(({ task: { kind } }) => !isPeerName(kind) || PEERS[kind].isShared)
  for (const readers of run.byScale({ tiny: [2], small: READERS, medium: READERS, large: READERS })) {
    const title = `${keys} keys: ${readers} reader processes`
    await measureReaders(run, { title, subjects: shared, readers, at: { readers } })
  }
  // A copy, because the writer changes it.
  const copy = run.folder('written')
  cpSync(folders.get('engine')!, copy, { recursive: true })
  const [engine] = subjects
  const written = { role: 'ours', task: { ...engine!.task, path: copy } } as const
  await measureReaders(run, {
    title: `${keys} keys: a reader while a writer commits and prunes`,
    subjects: [
      { ...written, subject: 'engine: peek, nobody writes', role: 'floor' },
      { ...written, subject: 'engine: peek, a busy writer', isBusy: true },
    ],
    readers: 1,
    at: { readers: 1 },
  })
  run.removeFolder('written')
}

/** The stores to measure, the engine first. All read keys with ten versions. */
function subjectsOf(
  folders: ReadonlyMap<StoreFolder, string>,
  { keys, versions, classes }: Workload,
): readonly ReaderSubject[] {
  const task = { keys, versions, className: classes[1]!.name, at: 'random version', count: 0, seed: 5 } as const
  return SUBJECTS.flatMap(([kind, role, subject]): ReaderSubject[] => {
    const path = folders.get(kind)
    return path === undefined ? [] : [{ subject, role, task: { ...task, kind, path } }]
  })
}

interface ReaderSubject {
  readonly subject: string
  readonly role: Role
  readonly task: ReaderTask
  /** Whether a writer commits and prunes meanwhile. */
  readonly isBusy?: boolean
}

interface ReadersOptions {
  readonly title: string
  readonly subjects: readonly ReaderSubject[]
  readonly readers: number
  /** Whether the page cache is dropped first. */
  readonly isCold?: boolean
  readonly at: Measure['at']
}

/** Measures the subjects in interleaved rounds, each with new reader processes. */
async function measureReaders(run: BenchRun, { title, subjects, readers, isCold = false, at }: ReadersOptions) {
  const rounds = run.byScale({ tiny: 1, small: 3, medium: 3, large: 3 })
  const milliseconds = run.byScale({ tiny: 200, small: 1_500, medium: 2_000, large: 3_000 })
  const samples = subjects.map((): ReaderReport[] => [])
  for (let round = 0; round < rounds; round++) {
    for (const [index, { task, isBusy = false }] of subjects.entries()) {
      run.step(`${title}, round ${round + 1} of ${rounds}`)
      if (isCold) dropFromPageCache(task.path)
      samples[index]!.push(await runReaders(task, { readers, milliseconds, isBusy }))
    }
  }
  for (const [index, { subject, role }] of subjects.entries()) {
    const common = { title, subject, role, at }
    const all = samples[index]!
    if (isCold) {
      run.record({ ...common, metric: 'mean', unit: 'ns', rounds: all.map(({ mean }) => mean) })
      for (const [metric, rounds] of [
        ['file reads of a look-up', all.map(({ fileReads }) => fileReads)],
        ['pages of a look-up from the disk', all.map(({ diskPages }) => diskPages)],
      ] as const) {
        if (rounds.every(Number.isFinite)) run.record({ ...common, metric, unit: '', rounds })
      }
    } else {
      const rates = all.map(({ reads, seconds }) => reads / seconds)
      run.record({ ...common, metric: 'look-ups', unit: '1/s', better: 'higher', rounds: rates })
    }
    run.record({ ...common, metric: 'p50', unit: 'ns', rounds: all.map(({ p50 }) => p50) })
    run.record({ ...common, metric: 'p99', unit: 'ns', rounds: all.map(({ p99 }) => p99) })
    run.record({ ...common, metric: 'p99.9', unit: 'ns', rounds: all.map(({ p999 }) => p999) })
  }
}

/** Runs all readers, and returns the sum of their rates and the worst of their percentiles. */
async function runReaders(
  task: ReaderTask,
  {
    readers,
    milliseconds,
    isBusy,
  }: { readonly readers: number; readonly milliseconds: number; readonly isBusy: boolean },
): Promise<ReaderReport> {
  const processes = await Promise.all(
    Array.from({ length: readers }, (_, at) => startReader({ ...task, seed: 5 + at })),
  )
  for (const reader of processes) reader.start()
  if (task.count === 0) {
    if (isBusy) await writeFor(task.path, milliseconds)
    else await new Promise((resolve) => setTimeout(resolve, milliseconds))
    for (const reader of processes) reader.stop()
  }
  const reports = await Promise.all(processes.map((reader) => reader.report()))
  await Promise.all(processes.map((reader) => reader.end()))
  const worst = (metric: 'p50' | 'p99' | 'p999' | 'mean' | 'fileReads' | 'diskPages') =>
    Math.max(...reports.map((report) => report[metric]))
  return {
    reads: reports.reduce((sum, { reads, seconds }) => sum + reads / seconds, 0),
    seconds: 1,
    p50: worst('p50'),
    p99: worst('p99'),
    p999: worst('p999'),
    mean: worst('mean'),
    fileReads: worst('fileReads'),
    diskPages: worst('diskPages'),
  }
}

const PROBE = fileURLToPath(new URL('./open-probe.ts', import.meta.url))

async function measureOpening(run: BenchRun, path: string, keys: number): Promise<void> {
  const title = `${keys} keys: opening the store in a new process`
  run.step(title)
  const child = fork(PROBE, [path, String(keys)])
  const [report] = (await once(child, 'message')) as [{ openMs: number; processBytes: number; addedBytes: number }]
  const at = { keys }
  run.record({ title, subject: 'engine', metric: 'until the first answer', unit: 'ms', rounds: report.openMs, at })
  run.record({
    title,
    subject: 'engine',
    metric: 'memory without the map, after 300,000 reads',
    unit: 'B',
    rounds: report.addedBytes,
    at,
  })
}

/** Commits and prunes without a pause, keeping the length of the window. */
async function writeFor(path: string, milliseconds: number): Promise<void> {
  const engine = openStateEngine({ path, durability: 'none' })
  const { latestVersion, oldestVersion, latestBlock } = engine.ledger!
  const window = latestVersion - oldestVersion + 1n
  let next = latestVersion + 1n
  let { height } = latestBlock
  const value = Buffer.alloc(150, 1)
  for (const until = performance.now() + milliseconds; performance.now() < until; ) {
    const batch = Array.from({ length: 200 }, (): WorkloadVersion => {
      const version = next++
      height++
      const key = (at: number) => Buffer.from(`busy ${(Number(version) * 5 + at) % 20_000}`)
      const writes = Array.from({ length: 5 }, (_, at) => [key(at), value] as const)
      return { version, block: { height, epoch: 0n, timestampUsec: height }, writes }
    })
    await engine.commit(batch, { chainId: 1 })
    await engine.prune(window)
    await new Promise((resolve) => setImmediate(resolve))
  }
  await engine.close()
}
