import { fork, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { openStateEngine } from '@ledger-state/state-engine'
import { build, type Histogram } from 'hdr-histogram-js'
import type { BenchRun, Suite } from '../bench-run.js'
import type { ReaderReport, ReaderTask } from '../lookup-reader.js'
import type { Role } from '../measure.js'
import { dropFromPageCache, startReader } from '../reader-process.js'
import { measureInRounds } from '../rounds.js'
import { openEngineStore } from '../stores/engine.js'
import { openJsMap } from '../stores/js-map.js'
import { openPlainLmdb } from '../stores/plain-lmdb.js'
import { openPostgres } from '../stores/postgres.js'
import { openSeekLevel } from '../stores/seek-level.js'
import { openSeekLmdb } from '../stores/seek-lmdb.js'
import { openSeekRocks } from '../stores/seek-rocks.js'
import { openSqlite } from '../stores/sqlite.js'
import type { Answer, Read, Store } from '../stores/store.js'
import {
  type Access,
  createWorkload,
  type Question,
  type Workload,
  type WorkloadClass,
  type WorkloadVersion,
} from '../workload.js'

/** In memory these are what a look-up costs; the limit of a JavaScript heap is in between. */
const MOST_KEYS_OF_A_MAP = 200_000
/** Beyond it the slow peers would take hours to fill. */
const MOST_KEYS_OF_A_SERVER = 200_000

export const lookupSuite: Suite = {
  name: 'lookup',
  summary:
    'one look-up of the engine beside bare lmdb and the layouts of others: warm, cold, many readers, a busy writer',
  estimate: (scale) =>
    ({
      tiny: { minutes: 1, memoryBytes: 0.4e9, diskBytes: 0.3e9 },
      small: { minutes: 6, memoryBytes: 2e9, diskBytes: 4e9 },
      medium: { minutes: 25, memoryBytes: 4e9, diskBytes: 25e9 },
      large: { minutes: 120, memoryBytes: 8e9, diskBytes: 80e9 },
    })[scale],
  charts: [
    {
      title: 'A past version, against the number of keys',
      metric: 'time',
      x: 'keys',
      where: { question: 'random version', depth: 10, access: 'uniform' },
      logarithmic: true,
      caption: 'Keys with ten versions, at a random version of the window, warm.',
    },
    {
      title: 'A past version, against the depth of its history',
      metric: 'time',
      x: 'depth',
      where: { question: 'random version', main: 'yes', access: 'uniform' },
      logarithmic: true,
      caption: 'At a random version of the window, warm. The floor keeps newest values only, and reads those.',
    },
    {
      title: 'The newest value, against the number of keys',
      metric: 'time',
      x: 'keys',
      where: { question: 'latest', depth: 10, access: 'uniform' },
      logarithmic: true,
      caption: 'Keys with ten versions, warm.',
    },
    {
      title: 'Distribution of latencies',
      metric: ['p50', 'p99', 'p99.9'],
      x: 'metric',
      where: { question: 'random version', depth: 10, main: 'yes' },
      logarithmic: true,
      caption: 'Single look-ups at a random version, each with the clock around it.',
    },
    {
      title: 'Bytes on disk for each byte of payload',
      metric: 'bytes per payload byte',
      x: 'subject',
      where: { main: 'yes' },
      caption:
        'Payload: every key once for each entry that is kept, and its value. The floor keeps one entry of a key.',
    },
  ],
  async run(run) {
    const sizes = run.byScale({
      tiny: [2_000],
      small: [10_000, 100_000],
      medium: [10_000, 100_000, 1_000_000],
      large: [100_000, 1_000_000, 10_000_000],
    })
    // Where all peers are measured: the largest that the slow ones can be filled with.
    const main = sizes.filter((keys) => keys <= MOST_KEYS_OF_A_SERVER).at(-1)!
    for (const keys of sizes) await measureSize(run, keys, keys === main)
  },
}

interface Contestant {
  readonly store: Store
  readonly role: Role
}

async function measureSize(run: BenchRun, keys: number, isMain: boolean): Promise<void> {
  const name = `keys-${keys}`
  const folder = (store: string) => run.folder(join(name, store))
  const workload = createWorkload(keys)
  const contestants: Contestant[] = []
  try {
    const engine = openEngineStore(folder('engine'))
    contestants.push({ store: engine, role: 'ours' })
    const plain = openPlainLmdb(folder('plain'))
    contestants.push({ store: plain, role: 'floor' }, { store: openSeekLmdb(folder('seek-lmdb')), role: 'peer' })
    if (isMain || keys < MOST_KEYS_OF_A_SERVER) {
      for (const [peer, open] of [
        ['RocksDB', () => openSeekRocks(folder('seek-rocks'))],
        ['LevelDB', () => openSeekLevel(folder('seek-level'))],
        ['SQLite', () => openSqlite(folder('sqlite'))],
        ['PostgreSQL', () => openPostgres(folder('postgres'))],
      ] as const) {
        try {
          const store = await open()
          if (store) contestants.push({ store, role: 'peer' })
        } catch (error) {
          run.note(`${peer} is left out: ${(error as Error).message ?? String(error)}`)
        }
      }
    }
    if (keys <= MOST_KEYS_OF_A_MAP) contestants.push({ store: openJsMap(), role: 'limit' })
    await fill(run, contestants, workload, keys, isMain)
    await expectAgreement(run, contestants, workload)
    for (const one of workload.classes) await measureClass(run, contestants, workload, one, keys, isMain, 'uniform')
    if (isMain) {
      const ten = workload.classes[1]!
      await measureClass(run, contestants, workload, ten, keys, false, 'Zipf')
      await measureSpecial(run, contestants, workload, ten, keys)
      await measureLatencies(run, contestants, workload, ten, keys)
      await measureNative(run, plain, workload, ten, folder('plain'), keys)
    }
    for (const { store } of contestants.splice(0)) await store.close()
    if (isMain) await measureProcesses(run, folder, workload, keys)
  } finally {
    for (const { store } of contestants) await store.close()
    run.removeFolder(name)
  }
}

async function fill(
  run: BenchRun,
  contestants: readonly Contestant[],
  workload: Workload,
  keys: number,
  isMain: boolean,
): Promise<void> {
  run.step(`${keys} keys: writing ${workload.writes} writes into ${contestants.length} stores`)
  const costs = contestants.map((): number[] => [])
  let payload = 0
  let batches = 0
  for (const batch of workload.batches()) {
    const writes = batch.reduce((sum, one) => sum + one.writes.length, 0)
    for (const { writes: of } of batch) for (const [key, value] of of) payload += key.length + (value?.length ?? 0)
    for (const [at, { store }] of contestants.entries()) {
      const began = performance.now()
      await store.ingest(batch)
      costs[at]!.push(((performance.now() - began) * 1_000) / writes)
    }
    if (++batches % 200 === 0) run.step(`${keys} keys: ${batches * 1_000} versions written`)
  }
  for (const [at, { store, role }] of contestants.entries()) {
    const bytes = await store.usedBytes()
    const common = {
      title: `${keys} keys: filling`,
      subject: store.name,
      role,
      at: { keys, ...(isMain && { main: 'yes' }) },
    }
    run.record({ ...common, metric: 'time of a write', unit: 'µs', rounds: costs[at]! })
    run.record({
      ...common,
      metric: 'bytes per entry',
      unit: 'B',
      better: 'lower',
      rounds: bytes / (role === 'floor' ? keys : workload.writes),
    })
    if (role !== 'floor' && role !== 'limit') {
      run.record({ ...common, metric: 'bytes per payload byte', unit: '×', better: 'lower', rounds: bytes / payload })
    }
  }
}

/** All stores answer a sample of questions alike, or there is nothing to compare. */
async function expectAgreement(run: BenchRun, contestants: readonly Contestant[], workload: Workload): Promise<void> {
  const count = run.byScale({ tiny: 2_000, small: 100_000, medium: 100_000, large: 100_000 })
  run.step(`asking all of them ${count} questions`)
  const answering = contestants.map(({ store }) => store).filter(({ atVersion }) => atVersion)
  const questions = workload.classes.flatMap((one) => [
    ...workload.questions(one, count / 8),
    ...workload.justSuperseded(one, count / 8),
  ])
  // Those that answer over a wire are asked a part of it.
  for (const [at, question] of [...questions, ...workload.deleted(count / 20)].entries()) {
    const asked = at % 20 === 0 ? answering : answering.filter((store) => !isAsynchronous(store))
    const answers = await Promise.all(asked.map((store) => store.atVersion!([question])))
    const odd = answers.findIndex((answer) => !isSame(answer, answers[0]))
    if (odd >= 0)
      throw new Error(`${asked[0]!.name} and ${asked[odd]!.name} do not agree at version ${question.version}`)
  }
}

const slow = new WeakMap<Store, boolean>()
function isAsynchronous(store: Store): boolean {
  let known = slow.get(store)
  if (known === undefined) {
    known = store.latest([{ key: new Uint8Array(40), version: 0n }]) instanceof Promise
    slow.set(store, known)
  }
  return known
}

function isSame(a: Answer, b: Answer): boolean {
  return a === undefined || b === undefined ? a === b : Buffer.compare(a, b) === 0
}

interface Row {
  readonly subject: string
  readonly role: Role
  readonly read: Read
  readonly store: Store
}

function rowsFor(contestants: readonly Contestant[], question: string): Row[] {
  return contestants.flatMap(({ store, role }): Row[] => {
    const row = { store, role, subject: store.name }
    if (role === 'floor') {
      const plain = store as ReturnType<typeof openPlainLmdb>
      const floor = { ...row, subject: `${store.name}: getBinaryFast`, read: plain.latestFast }
      return question === 'random version'
        ? [floor]
        : [floor, { ...row, role: 'peer', subject: `${store.name}: getBinary`, read: plain.latest }]
    }
    if (role !== 'ours')
      return [{ ...row, read: question === 'latest' || question === 'never written' ? store.latest : store.atVersion! }]
    const engine = store as ReturnType<typeof openEngineStore>
    if (question === 'latest') {
      return [
        { ...row, subject: 'engine: peek', read: engine.latestPeek },
        { ...row, subject: 'engine: get', read: engine.latest },
      ]
    }
    if (question === 'never written') return [{ ...row, subject: 'engine: get', read: engine.latest }]
    return [
      { ...row, subject: 'engine: peek', read: engine.peekAtVersion },
      { ...row, subject: 'engine: get', read: engine.atVersion },
    ]
  })
}

async function measureRows(
  run: BenchRun,
  title: string,
  rows: readonly Row[],
  questions: readonly Question[],
  at: Record<string, string | number>,
): Promise<void> {
  run.step(title)
  const few = questions.slice(0, run.byScale({ tiny: 100, small: 2_000, medium: 2_000, large: 2_000 }))
  const contenders = rows.map(({ read, store }) => {
    const asked = isAsynchronous(store) ? few : questions
    return { count: asked.length, run: () => read(asked) }
  })
  const rounds = run.byScale({ tiny: 2, small: 7, medium: 7, large: 7 })
  const costs = await measureInRounds(contenders, {
    rounds,
    milliseconds: run.byScale({ tiny: 1, small: 30, medium: 30, large: 30 }),
  })
  for (const [index, { subject, role }] of rows.entries()) {
    const { wall, cpu, heapBytes } = costs[index]!
    const common = { title, subject, role, at }
    run.record({ ...common, metric: 'time', unit: 'ns', rounds: wall })
    run.record({
      ...common,
      metric: 'in a CPU second',
      unit: '1/s',
      better: 'higher',
      rounds: cpu.map((ns) => 1e9 / ns),
    })
    if (Number.isFinite(heapBytes) && heapBytes >= 0)
      run.record({ ...common, metric: 'heap', unit: 'B', rounds: heapBytes })
  }
}

function questionCount(run: BenchRun): number {
  return run.byScale({ tiny: 1_000, small: 20_000, medium: 20_000, large: 20_000 })
}

async function measureClass(
  run: BenchRun,
  contestants: readonly Contestant[],
  workload: Workload,
  one: WorkloadClass,
  keys: number,
  isMain: boolean,
  access: Access,
): Promise<void> {
  const questions = workload.questions(one, questionCount(run), access)
  for (const question of ['latest', 'random version'] as const) {
    const title = `${keys} keys, ${one.name} versions each, ${access}: ${question}`
    const at = { keys, depth: one.depth, question, access, ...(isMain && { main: 'yes' }) }
    await measureRows(run, title, rowsFor(contestants, question), questions, at)
  }
}

async function measureSpecial(
  run: BenchRun,
  contestants: readonly Contestant[],
  workload: Workload,
  one: WorkloadClass,
  keys: number,
) {
  const count = questionCount(run)
  const absent = workload.absentKeys(count).map((key) => ({ key, version: workload.latestVersion }))
  for (const [question, questions] of [
    ['just superseded', workload.justSuperseded(one, count)],
    ['never written', absent],
    ['deleted', workload.deleted(count)],
  ] as const) {
    if (questions.length === 0) continue
    const rows = rowsFor(contestants, question).filter(({ role }) => question !== 'deleted' || role !== 'floor')
    await measureRows(run, `${keys} keys: ${question}`, rows, questions, { keys, question })
  }
}

/** Percentiles of single look-ups, the clock's own cost included and told. */
async function measureLatencies(
  run: BenchRun,
  contestants: readonly Contestant[],
  workload: Workload,
  one: WorkloadClass,
  keys: number,
) {
  const title = `${keys} keys, ${one.name} versions each: percentiles of single look-ups`
  run.step(title)
  const count = run.byScale({ tiny: 500, small: 50_000, medium: 50_000, large: 50_000 })
  const rounds = run.byScale({ tiny: 2, small: 5, medium: 5, large: 5 })
  const questions = workload.questions(one, count)
  const nothing: Row = {
    subject: 'the clock alone',
    role: 'limit',
    store: contestants[0]!.store,
    read: () => undefined,
  }
  const rows = [...rowsFor(contestants, 'random version'), nothing]
  const samples = rows.map(() => PERCENTILES.map((): number[] => []))
  for (let round = -1; round < rounds; round++) {
    for (const [at, { subject, read, store }] of rows.entries()) {
      const asked = subject !== nothing.subject && isAsynchronous(store) ? questions.slice(0, count / 50) : questions
      const histogram = await timeEach(read, asked)
      if (round < 0) continue
      for (const [place, [, share]] of PERCENTILES.entries()) {
        samples[at]![place]!.push(histogram.getValueAtPercentile(share))
      }
    }
  }
  for (const [index, { subject, role }] of rows.entries()) {
    for (const [place, [metric]] of PERCENTILES.entries()) {
      const at = { keys, depth: one.depth, question: 'random version', main: 'yes' }
      run.record({ title, subject, role, metric, unit: 'ns', rounds: samples[index]![place]!, at })
    }
  }
}

const PERCENTILES = [
  ['p50', 50],
  ['p99', 99],
  ['p99.9', 99.9],
] as const

async function timeEach(read: Read, questions: readonly Question[]): Promise<Histogram> {
  const histogram = build({
    lowestDiscernibleValue: 1,
    highestTrackableValue: 1e10,
    numberOfSignificantValueDigits: 3,
  })
  for (const question of questions) {
    const one = [question]
    const began = process.hrtime.bigint()
    const answer = read(one)
    if (answer instanceof Promise) await answer
    histogram.recordValue(Number(process.hrtime.bigint() - began))
  }
  return histogram
}

/** The floor without JavaScript, where there is a compiler. */
async function measureNative(
  run: BenchRun,
  plain: ReturnType<typeof openPlainLmdb>,
  workload: Workload,
  one: WorkloadClass,
  path: string,
  keys: number,
) {
  const title = `${keys} keys: bare LMDB from C`
  run.step(title)
  const source = fileURLToPath(new URL('../../native/lmdb-floor.c', import.meta.url))
  const liblmdb = join(
    dirname(createRequire(import.meta.url).resolve('lmdb')),
    '../dependencies/lmdb/libraries/liblmdb',
  )
  const folder = run.folder('native')
  const program = join(folder, 'lmdb-floor')
  const words = [
    '-O2',
    '-w',
    `-I${liblmdb}`,
    source,
    join(liblmdb, 'mdb.c'),
    join(liblmdb, 'midl.c'),
    '-lpthread',
    '-o',
    program,
  ]
  const compiled = spawnSync('cc', words, { encoding: 'utf8' })
  if (compiled.status !== 0) {
    run.note(`bare LMDB from C is left out: ${compiled.error?.message ?? compiled.stderr.split('\n')[0]}`)
    return
  }
  const questions = workload.questions(one, questionCount(run)).filter(({ key }) => key.length < 1_900)
  const file = join(folder, 'keys')
  writeFileSync(
    file,
    Buffer.concat(questions.flatMap(({ key }) => [Buffer.from(Uint32Array.of(key.length).buffer), key])),
  )
  const { status, stdout, stderr } = spawnSync(program, [join(path, 'plain.mdb'), file, '7'], { encoding: 'utf8' })
  if (status !== 0) {
    run.note(`bare LMDB from C is left out: ${stderr.trim()}`)
    return
  }
  const [inNode] = await measureInRounds([{ count: questions.length, run: () => plain.latestFast(questions) }], {
    rounds: 7,
    milliseconds: 20,
  })
  const at = { keys, question: 'latest' }
  run.record({
    title,
    subject: 'mdb_get, C',
    role: 'limit',
    metric: 'time',
    unit: 'ns',
    rounds: stdout.trim().split('\n').map(Number),
    at,
  })
  run.record({
    title,
    subject: 'getBinaryFast, Node.js',
    role: 'floor',
    metric: 'time',
    unit: 'ns',
    rounds: inNode!.wall,
    at,
  })
}

/** Cold, with several readers, and while the store is written: each reader a process of its own. */
async function measureProcesses(
  run: BenchRun,
  folder: (name: string) => string,
  workload: Workload,
  keys: number,
): Promise<void> {
  const className = workload.classes[1]!.name
  const task = { keys, className, at: 'random version' as const, seed: 5 }
  const cold = run.byScale({ tiny: 200, small: 2_000, medium: 5_000, large: 5_000 })
  const kinds: readonly ReaderSubject[] = [
    { subject: 'engine: peek', role: 'ours', task: { ...task, kind: 'engine', path: folder('engine'), count: cold } },
    {
      subject: 'lmdb, newest values only: getBinaryFast',
      role: 'floor',
      task: { ...task, kind: 'plain', path: folder('plain'), count: cold },
    },
  ]
  if (kinds.every(({ task: { path } }) => dropFromPageCache(path))) {
    const title = `${keys} keys: page cache dropped, single look-ups`
    await measureReaders(run, { title, subjects: kinds, readers: 1, isCold: true })
  } else run.note('cold look-ups are left out: the page cache cannot be dropped here')
  await measureOpening(run, folder('engine'), keys)
  const untilStopped = kinds.map((one) => ({ ...one, task: { ...one.task, count: 0 } }))
  for (const readers of [1, 2, 4]) {
    await measureReaders(run, { title: `${keys} keys: ${readers} reader processes`, subjects: untilStopped, readers })
  }
  const [engine] = untilStopped as [ReaderSubject]
  await measureReaders(run, {
    title: `${keys} keys: a reader while a writer commits and prunes`,
    subjects: [
      { ...engine, subject: 'engine: peek, nobody writes', role: 'floor' },
      { ...engine, subject: 'engine: peek, a busy writer', isBusy: true },
    ],
    readers: 1,
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
  /** Whether the page cache is dropped before. */
  readonly isCold?: boolean
}

/** In interleaved rounds; the readers of a round are new processes. */
async function measureReaders(run: BenchRun, { title, subjects, readers, isCold = false }: ReadersOptions) {
  const rounds = run.byScale({ tiny: 1, small: 3, medium: 3, large: 3 })
  const milliseconds = run.byScale({ tiny: 200, small: 1_500, medium: 2_000, large: 3_000 })
  const samples = subjects.map((): ReaderReport[] => [])
  for (let round = 0; round < rounds; round++) {
    for (const [at, { task, isBusy = false }] of subjects.entries()) {
      run.step(`${title}, round ${round + 1} of ${rounds}`)
      if (isCold) dropFromPageCache(task.path)
      samples[at]!.push(await runReaders(task, { readers, milliseconds, isBusy }))
    }
  }
  for (const [at, { subject, role }] of subjects.entries()) {
    const common = { title, subject, role, at: { readers } }
    const all = samples[at]!
    if (isCold) run.record({ ...common, metric: 'mean', unit: 'ns', rounds: all.map(({ mean }) => mean) })
    else {
      const rates = all.map(({ reads, seconds }) => reads / seconds)
      run.record({ ...common, metric: 'look-ups', unit: '1/s', better: 'higher', rounds: rates })
    }
    run.record({ ...common, metric: 'p50', unit: 'ns', rounds: all.map(({ p50 }) => p50) })
    run.record({ ...common, metric: 'p99', unit: 'ns', rounds: all.map(({ p99 }) => p99) })
    run.record({ ...common, metric: 'p99.9', unit: 'ns', rounds: all.map(({ p999 }) => p999) })
  }
}

/** All readers together: the sum of what they read in the time of one, and the worst of their percentiles. */
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
  for (const reader of processes) reader.end()
  const worst = (metric: 'p50' | 'p99' | 'p999' | 'mean') => Math.max(...reports.map((report) => report[metric]))
  return {
    reads: reports.reduce((sum, { reads, seconds }) => sum + reads / seconds, 0),
    seconds: 1,
    p50: worst('p50'),
    p99: worst('p99'),
    p999: worst('p999'),
    mean: worst('mean'),
  }
}

const PROBE = fileURLToPath(new URL('../open-probe.js', import.meta.url))

async function measureOpening(run: BenchRun, path: string, keys: number): Promise<void> {
  const title = `${keys} keys: opening the store in a process of its own`
  run.step(title)
  const child = fork(PROBE, [path, String(keys)])
  const [report] = (await once(child, 'message')) as [{ openMs: number; processBytes: number; addedBytes: number }]
  const at = { keys }
  run.record({ title, subject: 'engine', metric: 'until a first answer', unit: 'ms', rounds: report.openMs, at })
  run.record({
    title,
    subject: 'engine',
    metric: 'memory beside the map, 300,000 reads later',
    unit: 'B',
    rounds: report.addedBytes,
    at,
  })
}

/** Commits and prunes without a pause: a window of what is there, which moves on. */
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
