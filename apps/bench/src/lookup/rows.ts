import type { Role } from '../report/measure.ts'
import type { BenchRun } from '../run/bench-run.ts'
import { measureInRounds } from '../run/rounds.ts'
import type { openEngineStore } from '../stores/engine.ts'
import type { openPlainLmdb } from '../stores/plain-lmdb.ts'
import type { Read, Store } from '../stores/store.ts'
import type { Question } from '../workload/workload.ts'
import type { Contestant } from './contestants.ts'

/** A way to read a store: a row of a table. */
export interface Row {
  readonly subject: string
  readonly role: Role
  readonly read: Read
  readonly store: Store
}

/** The ways to ask a question of each store. */
export function rowsFor(contestants: readonly Contestant[], question: string): Row[] {
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

export async function measureRows(
  run: BenchRun,
  title: string,
  rows: readonly Row[],
  questions: readonly Question[],
  at: Record<string, string | number>,
): Promise<void> {
  run.step(title)
  const few = questions.slice(0, run.byScale({ tiny: 40, small: 2_000, medium: 2_000, large: 2_000 }))
  const contenders = rows.map(({ read, store }) => {
    const asked = store.isAsync ? few : questions
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
