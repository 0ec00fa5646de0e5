import { fork } from 'node:child_process'
import { once } from 'node:events'
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { type Figure, megabytes, printTable, toFigure } from './figures.js'
import { openEngineStore } from './stores/engine.js'
import { openPlainLmdb } from './stores/plain-lmdb.js'
import { openSeekLevel } from './stores/seek-level.js'
import { openSeekLmdb } from './stores/seek-lmdb.js'
import { openSqlite } from './stores/sqlite.js'
import type { Answer, Read, Store } from './stores/store.js'
import { createWorkload, type Question, type Workload, type WorkloadClass } from './workload.js'

export interface LookupOptions {
  readonly keys: number
  /** Beside the engine and its floor, the layouts that others use. */
  readonly peers: boolean
}

const ROUNDS = 7
const LOOK_UPS = 20_000
/** Iterators of LevelDB are slow: fewer look-ups a round tell as much. */
const ASYNC_LOOK_UPS = 2_000
const AGREEMENT_SAMPLE = 20_000

/** Nanoseconds of one look-up beside bare lmdb and the layouts of others, warm, uniform access, one process. */
export async function runLookupSuite({ keys, peers }: LookupOptions): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), 'bench-lookup-'))
  const stores: Store[] = []
  try {
    const workload = createWorkload(keys)
    const place = (name: string) => {
      mkdirSync(join(folder, name))
      return join(folder, name)
    }
    const engine = openEngineStore(place('engine'))
    const plain = openPlainLmdb(place('plain'))
    stores.push(engine, plain)
    if (peers)
      stores.push(openSeekLmdb(place('seek')), await openSeekLevel(place('level')), openSqlite(place('sqlite')))
    await fill(stores, workload)
    await expectAgreement(stores, workload)
    await probeOpening(join(folder, 'engine'), keys)
    for (const one of workload.classes) await runClass(one, workload, engine, plain, stores.slice(2))
  } finally {
    for (const store of stores) await store.close()
    rmSync(folder, { recursive: true, force: true })
  }
}

async function fill(stores: readonly Store[], workload: Workload): Promise<void> {
  process.stderr.write(`writing ${workload.writes} writes into ${stores.length} stores …\n`)
  const seconds = stores.map(() => 0)
  for (const batch of workload.batches()) {
    for (const [at, store] of stores.entries()) {
      const began = performance.now()
      await store.ingest(batch)
      seconds[at]! += (performance.now() - began) / 1_000
    }
  }
  const rows: string[][] = []
  for (const [at, store] of stores.entries()) {
    const perWrite = (seconds[at]! * 1e6) / workload.writes
    rows.push([
      store.name,
      perWrite.toFixed(2),
      (seconds[1]! / seconds[at]!).toFixed(2),
      megabytes(await store.usedBytes()),
    ])
  }
  printTable(['ingest, batches of 1,000 versions, no fsync', 'µs a write', '× lmdb', 'on disk'], rows)
}

const PROBE = fileURLToPath(new URL('./open-probe.js', import.meta.url))

async function probeOpening(path: string, keys: number): Promise<void> {
  const [{ openMs, processBytes, addedBytes }] = (await once(fork(PROBE, [path, String(keys)]), 'message')) as [
    { openMs: number; processBytes: number; addedBytes: number },
  ]
  process.stdout.write(
    `\nopening and a first read: ${openMs.toFixed(0)} ms; memory beside the map after 300,000 reads: ${megabytes(processBytes)}, of which Node.js alone ${megabytes(processBytes - addedBytes)}\n`,
  )
}

/** All stores answer a sample of questions alike, or there is nothing to compare. */
async function expectAgreement(stores: readonly Store[], workload: Workload): Promise<void> {
  const answering = stores.filter(({ atVersion }) => atVersion)
  for (const one of workload.classes) {
    for (const question of workload.questions(one, AGREEMENT_SAMPLE / workload.classes.length)) {
      const answers = await Promise.all(answering.map((store) => store.atVersion!([question])))
      if (answers.some((answer) => !isSame(answer, answers[0]))) {
        throw new Error(`${answering.map(({ name }) => name).join(', ')} do not agree at version ${question.version}`)
      }
    }
  }
}

function isSame(a: Answer, b: Answer): boolean {
  return a === undefined || b === undefined ? a === b : Buffer.compare(a, b) === 0
}

interface Contender {
  readonly name: string
  readonly read: Read
  readonly questions: readonly Question[]
}

async function runClass(
  one: WorkloadClass,
  workload: Workload,
  engine: ReturnType<typeof openEngineStore>,
  plain: ReturnType<typeof openPlainLmdb>,
  peers: readonly Store[],
): Promise<void> {
  const questions = workload.questions(one, LOOK_UPS)
  const absent = workload.absentKeys(LOOK_UPS).map((key) => ({ key, version: workload.latestVersion }))
  const few = (read: Read) => {
    const probe = read(questions.slice(0, 1))
    return probe instanceof Promise ? questions.slice(0, ASYNC_LOOK_UPS) : questions
  }
  const contenders: Contender[] = [
    { name: plain.name, read: plain.latest, questions },
    {
      name: 'lmdb getBinaryFast',
      questions,
      read(asked) {
        let answer: Answer
        for (const { key } of asked) answer = plain.database.getBinaryFast(key)
        return answer
      },
    },
    { name: 'engine, latest, get', read: engine.latest, questions },
    {
      name: 'engine, latest, peek',
      questions,
      read(asked) {
        let answer: Answer
        const view = engine.engine.at()
        for (const { key } of asked) answer = view.peek(key)
        return answer
      },
    },
    { name: 'engine, random version', read: engine.atVersion, questions },
    { name: 'engine, never written', read: engine.latest, questions: absent },
    { name: 'lmdb getBinary, never written', read: plain.latest, questions: absent },
    ...peers.flatMap(({ name, latest, atVersion }) => [
      { name: `${name}, latest`, read: latest, questions: few(latest) },
      { name: `${name}, random version`, read: atVersion!, questions: few(atVersion!) },
    ]),
  ]
  const samples = contenders.map((): number[] => [])
  for (let round = -1; round < ROUNDS; round++) {
    for (const [at, { read, questions: asked }] of contenders.entries()) {
      const began = performance.now()
      const answer = read(asked)
      if (answer instanceof Promise) await answer
      // The first round warms up.
      if (round >= 0) samples[at]!.push(((performance.now() - began) * 1e6) / asked.length)
    }
  }
  report(one, contenders, samples.map(toFigure))
}

function report(one: WorkloadClass, contenders: readonly Contender[], figures: readonly Figure[]): void {
  const [copying, fast] = [figures[0]!.median, figures[1]!.median]
  process.stdout.write('\n')
  printTable(
    [`${one.keys} keys with ${one.name} versions each`, 'ns', 'spread', '× getBinary', '× getBinaryFast'],
    contenders.map(({ name }, at) => {
      const { median, least, most } = figures[at]!
      const spread = `${least.toFixed(0)}–${most.toFixed(0)}`
      return [name, median.toFixed(0), spread, (copying / median).toFixed(2), (fast / median).toFixed(2)]
    }),
  )
}
