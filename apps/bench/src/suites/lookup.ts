import { expectAgreement } from '../lookup/agreement.ts'
import { type Contestant, MOST_KEYS_OF_A_MAP, openContestants } from '../lookup/contestants.ts'
import { measureLatencies } from '../lookup/latencies.ts'
import { measureNativeFloor } from '../lookup/native-floor.ts'
import { measureCold, measureProcesses } from '../lookup/processes.ts'
import { measureRows, rowsFor } from '../lookup/rows.ts'
import type { BenchRun } from '../run/bench-run.ts'
import type { Suite } from '../run/suite.ts'
import {
  type Access,
  createWorkload,
  type Workload,
  type WorkloadClass,
  type WorkloadDepth,
} from '../workload/workload.ts'

export const lookupSuite: Suite = {
  name: 'lookup',
  summary: 'one look-up in the engine, bare lmdb and the peers: warm, cold, with several readers, with a busy writer',
  estimate: (scale) =>
    ({
      tiny: { minutes: 1, memoryBytes: 0.4e9, diskBytes: 0.3e9 },
      small: { minutes: 12, memoryBytes: 2e9, diskBytes: 4e9 },
      medium: { minutes: 45, memoryBytes: 4e9, diskBytes: 40e9 },
      large: { minutes: 150, memoryBytes: 8e9, diskBytes: 120e9 },
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
      caption: 'At a random version of the window, warm. The floor keeps only the newest values, and reads those.',
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
      caption: 'Single look-ups at a random version; each is timed, and includes reading the clock.',
    },
    {
      title: 'Look-ups after the page cache was dropped',
      metric: ['p50', 'p99'],
      x: 'metric',
      where: { cold: 'yes', main: 'yes' },
      logarithmic: true,
      caption: 'Keys with ten versions, at a random version of the window, in a new process.',
    },
    {
      title: 'Bytes on disk for each byte of payload',
      metric: 'bytes per payload byte',
      x: 'subject',
      where: { main: 'yes' },
      caption: 'Payload: key and value of each entry that is kept. The floor keeps one entry for each key.',
    },
  ],
  async run(run) {
    const ofScale = run.byScale({
      tiny: [2_000],
      small: [10_000, 100_000],
      medium: [10_000, 100_000, 1_000_000],
      large: [100_000, 1_000_000, 10_000_000],
    })
    const sizes = run.keys === undefined ? ofScale : [run.keys]
    // At this size several processes, the Map in memory and the C program are measured, too.
    const main = sizes.filter((keys) => keys <= MOST_KEYS_OF_A_MAP).at(-1)!
    for (const keys of sizes) await measureSize(run, keys, keys === main)
  },
}

async function measureSize(run: BenchRun, keys: number, isMain: boolean): Promise<void> {
  const workload = createWorkload(keys, run.seed)
  const contestants = await openContestants(run, workload, isMain)
  try {
    const { all, plain, folders } = contestants
    await expectAgreement(run, all, workload)
    for (const one of workload.classes) await measureClass(run, all, workload, one, isMain, 'uniform')
    await measureClass(run, all, workload, workload.mixed, false, 'as written')
    const ten = workload.classes[1]!
    await measureClass(run, all, workload, ten, false, 'Zipf')
    await measureSpecial(run, all, workload, ten)
    await measureLatencies(run, all, workload, ten, isMain)
    if (isMain)
      await measureNativeFloor(run, plain, folders.get('plain')!, workload.questions(ten, questionCount(run)), keys)
    await contestants.close()
    await measureCold(run, folders, workload, isMain)
    if (isMain) await measureProcesses(run, folders, workload)
  } finally {
    await contestants.close()
    run.releaseStores()
  }
}

function questionCount(run: BenchRun): number {
  return run.byScale({ tiny: 200, small: 20_000, medium: 20_000, large: 20_000 })
}

async function measureClass(
  run: BenchRun,
  contestants: readonly Contestant[],
  workload: Workload,
  one: WorkloadClass | WorkloadDepth,
  isMain: boolean,
  access: Access,
): Promise<void> {
  const questions = workload.questions(one, questionCount(run), access)
  for (const question of ['latest', 'random version'] as const) {
    const { keys } = workload
    const title = `${keys} keys, ${one.name} versions each, ${access}: ${question}`
    const depth = 'depth' in one ? { depth: one.depth } : {}
    const at = { keys, ...depth, question, access, ...(isMain && { main: 'yes' }) }
    await measureRows(run, title, rowsFor(contestants, question), questions, at)
  }
}

async function measureSpecial(
  run: BenchRun,
  contestants: readonly Contestant[],
  workload: Workload,
  one: WorkloadClass,
) {
  const { keys } = workload
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
