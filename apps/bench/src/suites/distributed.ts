import type { VersionWrites } from '@ledger-state/core'
import { openPostgresEngine, type PostgresEngine } from '@ledger-state/postgres-engine'
import {
  type BareBatch,
  type BareQuestion,
  BareTables,
  connect,
  createBatchEncoder,
  hashKey,
} from '../distributed/bare-tables.ts'
import { type Database, openDatabases } from '../distributed/databases.ts'
import { mostOfFairShare, readWorkerLoads, type WorkerLoad } from '../distributed/shares.ts'
import type { BenchRun } from '../run/bench-run.ts'
import type { Suite } from '../run/suite.ts'
import { createWorkload, type Question, type Workload } from '../workload/workload.ts'

/** Statements that are sent before the first of them is answered. */
const IN_FLIGHT = 32
const ITEMS = 100
const BATCHES_IN_FLIGHT = 4
const AIM = 0.7
/** Timeout, so long that no read is given up while it is measured. */
const PATIENCE_MS = 120_000

export const distributedSuite: Suite = {
  name: 'distributed',
  summary: 'ingest and reads of the engine on PostgreSQL, and on Citus with 1 to 3 workers; the share of each worker',
  estimate: (scale) =>
    ({
      tiny: { minutes: 3, memoryBytes: 1e9, diskBytes: 1e9 },
      small: { minutes: 8, memoryBytes: 2e9, diskBytes: 3e9 },
      medium: { minutes: 25, memoryBytes: 3e9, diskBytes: 12e9 },
      large: { minutes: 120, memoryBytes: 4e9, diskBytes: 90e9 },
    })[scale],
  async run(run) {
    const keys = run.byScale({ tiny: 2_000, small: 50_000, medium: 300_000, large: 3_000_000 })
    for await (const database of openDatabases(run))
      await measureDatabase(run, database, createWorkload(keys, run.seed))
  },
}

async function measureDatabase(run: BenchRun, database: Database, workload: Workload): Promise<void> {
  const client = await connect(database.url, false)
  const { rowCount } = await client.query("SELECT FROM pg_namespace WHERE nspname IN ('ledger_state', 'bare')")
  if (rowCount !== 0) {
    await client.end()
    throw new Error('the database has a schema ledger_state or bare: name an empty one')
  }
  const { rowCount: extensions } = await client.query("SELECT FROM pg_extension WHERE extname = 'citus'")
  const isSharded = extensions === 1
  try {
    const engine = await openPostgresEngine({
      url: database.url,
      patienceMs: PATIENCE_MS,
      writePatienceMs: PATIENCE_MS,
    })
    const bare = await BareTables.open(database.url, isSharded)
    try {
      await measureIngest(run, database, { engine, bare, workload })
      for (const table of ['ledger_state.entries', 'bare.entries', 'ledger_state.keys']) {
        await client.query(`VACUUM ANALYZE ${table}`)
      }
      await recordSizes(run, database, { client, isSharded, workload })
      const before = isSharded ? await readWorkerLoads(client) : []
      await measureReads(run, database, { engine, bare, workload })
      if (isSharded) recordShares(run, database, before, await readWorkerLoads(client))
    } finally {
      await bare.close()
      await engine.close()
    }
  } finally {
    await client.query('DROP SCHEMA IF EXISTS ledger_state, bare CASCADE').catch(() => {})
    await client.end()
  }
}

interface Contenders {
  readonly engine: PostgresEngine
  readonly bare: BareTables
  readonly workload: Workload
}

/** Measures ingest batch by batch, taking turns. */
async function measureIngest(run: BenchRun, { name }: Database, { engine, bare, workload }: Contenders): Promise<void> {
  const most = run.byScale({ tiny: 4, small: 60, medium: 300, large: 4_000 })
  run.step(`${name}: writing up to ${most} batches of 1,000 versions`)
  const encode = createBatchEncoder()
  const rates = { engine: [] as number[], bare: [] as number[] }
  const cpu: number[] = []
  const commit = async (batch: readonly VersionWrites[], rows: number) => {
    const before = process.cpuUsage()
    rates.engine.push(rows / (await secondsOf(() => engine.commit(batch, { chainId: 1 }))))
    const { user, system } = process.cpuUsage(before)
    cpu.push((user + system) / rows)
  }
  const copy = async (batch: BareBatch) => {
    rates.bare.push(batch.rows / (await secondsOf(() => bare.copy(batch))))
  }
  let count = 0
  for (const batch of workload.batches()) {
    if (count === most) break
    const encoded = encode(batch)
    // The second finds the server warm, so the order alternates.
    if (count++ % 2 === 0) {
      await commit(batch, encoded.rows)
      await copy(encoded)
    } else {
      await copy(encoded)
      await commit(batch, encoded.rows)
    }
    run.throwIfInterrupted()
  }
  const title = `${name}: ingest in batches of 1,000 versions × 5 writes`
  const common = { title, metric: 'writes', unit: '1/s', better: 'higher' } as const
  // The first batch also prepares statements.
  run.record({ ...common, subject: 'engine', rounds: rates.engine.slice(1) })
  run.record({
    ...common,
    subject: 'COPY of the same rows, encoded before',
    role: 'floor',
    rounds: rates.bare.slice(1),
  })
  run.record({ title, subject: 'engine', metric: 'CPU time of a write, client', unit: 'µs', rounds: cpu.slice(1) })
  recordShare(run, `${name}: ingest, of a bare COPY`, rates.engine.slice(1), rates.bare.slice(1))
}

async function measureReads(run: BenchRun, { name }: Database, contenders: Contenders): Promise<void> {
  const { engine, bare, workload } = contenders
  const rounds = run.byScale({ tiny: 2, small: 15, medium: 15, large: 15 })
  const count = run.byScale({ tiny: 200, small: 3_000, medium: 3_000, large: 3_000 })
  run.step(`${name}: reading`)
  const snapshot = await engine.snapshot()
  const newest = snapshot.ledger!.latestVersion
  const questions = workload
    .questions(workload.mixed, count)
    .map(({ key, version }) => ({ key, version: version > newest ? newest : version }))
  const asked = questions.map(({ key, version }) => ({ hash: hashKey(key), version }))
  await expectSameAnswers(contenders, questions, asked)

  const readEngine = async ({ key, version }: Question) => void (await snapshot.at(version).load([key]))
  const readBare = async (question: BareQuestion) => void (await bare.readOne(question))
  for (const inFlight of [IN_FLIGHT, 1]) {
    const few = inFlight === 1 ? Math.ceil(count / 5) : count
    const [ours, theirs] = await inTurns(run, rounds, few, [
      () => concurrently(questions.slice(0, few), inFlight, readEngine),
      () => concurrently(asked.slice(0, few), inFlight, readBare),
    ])
    const title = `${name}: single reads, ${inFlight} in flight`
    record(run, title, 'reads', ours!, theirs!, 'prepared SELECT, pipelined')
  }

  const starts = Array.from({ length: Math.floor(count / ITEMS) }, (_, at) => at * ITEMS)
  const keys = starts.map((start) => questions.slice(start, start + ITEMS).map(({ key }) => key))
  const hashes = starts.map((start) => asked.slice(start, start + ITEMS).map((one) => one.hash))
  const view = snapshot.at(newest)
  const [ours, theirs] = await inTurns(run, rounds, starts.length * ITEMS, [
    () => concurrently(keys, BATCHES_IN_FLIGHT, async (batch) => void (await view.load(batch))),
    () => concurrently(hashes, BATCHES_IN_FLIGHT, async (batch) => void (await bare.readMany(batch, newest))),
  ])
  const title = `${name}: batches of ${ITEMS} items, ${BATCHES_IN_FLIGHT} in flight`
  record(run, title, 'items', ours!, theirs!, 'prepared batched SELECT, pipelined')
}

async function expectSameAnswers(
  { engine, bare }: Contenders,
  questions: readonly Question[],
  asked: readonly BareQuestion[],
): Promise<void> {
  const snapshot = await engine.snapshot()
  for (let at = 0; at < questions.length; at += 7) {
    const { key, version } = questions[at]!
    const [entry] = await snapshot.at(version).load([key])
    const raw = await bare.readOne(asked[at]!)
    const isSame = entry === undefined ? raw === undefined : raw?.equals(entry.value) === true
    if (!isSame) throw new Error(`the engine and the bare tables differ at version ${version}`)
  }
}

/** Rates of contenders that take turns, after a round that warms up. */
async function inTurns(
  run: BenchRun,
  rounds: number,
  count: number,
  contenders: readonly (() => Promise<void>)[],
): Promise<number[][]> {
  const rates = contenders.map((): number[] => [])
  for (let round = -1; round < rounds; round++) {
    run.throwIfInterrupted()
    for (const [at, contender] of contenders.entries()) {
      const seconds = await secondsOf(contender)
      if (round >= 0) rates[at]!.push(count / seconds)
    }
  }
  return rates
}

async function concurrently<T>(items: readonly T[], most: number, work: (item: T) => Promise<void>): Promise<void> {
  let next = 0
  const drain = async () => {
    while (next < items.length) await work(items[next++]!)
  }
  await Promise.all(Array.from({ length: most }, drain))
}

async function secondsOf(work: () => Promise<void>): Promise<number> {
  const began = performance.now()
  await work()
  return (performance.now() - began) / 1_000
}

function record(
  run: BenchRun,
  title: string,
  metric: string,
  ours: readonly number[],
  theirs: readonly number[],
  floor: string,
): void {
  const common = { title, metric, unit: '1/s', better: 'higher' } as const
  run.record({ ...common, subject: 'engine', rounds: ours })
  run.record({ ...common, subject: floor, role: 'floor', rounds: theirs })
  recordShare(run, `${title}, of the bare ${metric}`, ours, theirs)
}

function recordShare(run: BenchRun, subject: string, ours: readonly number[], theirs: readonly number[]): void {
  const common = { title: 'compared with bare tables', subject, unit: '×' } as const
  run.record({ ...common, metric: 'share', better: 'higher', rounds: ours.map((rate, at) => rate / theirs[at]!) })
  run.record({ ...common, metric: 'aim', better: 'neither', rounds: AIM })
}

const SIZES = `
SELECT sum(pg_total_relation_size(oid)) AS bytes FROM pg_class
WHERE relkind = 'r' AND relnamespace = 'ledger_state'::regnamespace`
const SHARDED_SIZES = "SELECT sum(shard_size) AS bytes FROM citus_shards WHERE table_name::text LIKE 'ledger_state.%'"
const WRITES = 'SELECT count(*) AS writes, sum(octet_length(value)) AS bytes FROM ledger_state.entries'

interface MeasuredStore {
  readonly client: Awaited<ReturnType<typeof connect>>
  readonly isSharded: boolean
  readonly workload: Workload
}

/** Records the sizes with all indexes, after a vacuum. */
async function recordSizes(
  run: BenchRun,
  { name }: Database,
  { client, isSharded, workload: { keys } }: MeasuredStore,
): Promise<void> {
  const numberOf = async (sql: string, column: string) => {
    const { rows } = await client.query<Record<string, string | null>>(sql)
    return Number(rows[0]?.[column] ?? 0)
  }
  const size = await numberOf(isSharded ? SHARDED_SIZES : SIZES, 'bytes')
  const writes = await numberOf(WRITES, 'writes')
  const values = await numberOf(WRITES, 'bytes')
  const common = { title: `${name}: on disk, ${keys} keys`, subject: 'engine', better: 'neither' } as const
  run.record({ ...common, metric: 'bytes of a write', unit: 'B', rounds: size / writes })
  run.record({ ...common, metric: 'of them its value', unit: 'B', rounds: values / writes })
}

function recordShares(run: BenchRun, { name }: Database, before: readonly WorkerLoad[], after: readonly WorkerLoad[]) {
  const asked = after.map(({ statements }, at) => statements - before[at]!.statements)
  const common = {
    title: 'the most that one worker has, as a multiple of its fair share',
    subject: name,
    unit: '×',
  } as const
  const amounts = { rows: after.map(({ rows }) => rows), bytes: after.map(({ bytes }) => bytes), statements: asked }
  for (const [metric, each] of Object.entries(amounts)) run.record({ ...common, metric, rounds: mostOfFairShare(each) })
}
