import { build, type Histogram } from 'hdr-histogram-js'
import type { BenchRun } from '../run/bench-run.ts'
import type { Read } from '../stores/store.ts'
import type { Question, Workload, WorkloadDepth } from '../workload/workload.ts'
import type { Contestant } from './contestants.ts'
import { type Row, rowsFor } from './rows.ts'

/** Percentiles of single look-ups. They include the cost of reading the clock, which has its own row. */
export async function measureLatencies(
  run: BenchRun,
  contestants: readonly Contestant[],
  workload: Workload,
  one: WorkloadDepth,
  isMain: boolean,
) {
  const { keys } = workload
  const title = `${keys} keys, ${one.name} versions each: percentiles of single look-ups`
  run.step(title)
  const count = run.byScale({ tiny: 500, small: 50_000, medium: 50_000, large: 50_000 })
  const rounds = run.byScale({ tiny: 2, small: 5, medium: 5, large: 5 })
  const questions = workload.questions(one, count)
  const nothing: Row = {
    subject: 'only the clock',
    role: 'limit',
    store: contestants[0]!.store,
    read: () => undefined,
  }
  const rows = [...rowsFor(contestants, 'random version'), nothing]
  const samples = rows.map(() => PERCENTILES.map((): number[] => []))
  for (let round = -1; round < rounds; round++) {
    for (const [at, { subject, read, store }] of rows.entries()) {
      const asked = subject !== nothing.subject && store.isAsync ? questions.slice(0, count / 50) : questions
      const histogram = await timeEach(read, asked)
      if (round < 0) continue
      for (const [place, [, share]] of PERCENTILES.entries()) {
        samples[at]![place]!.push(histogram.getValueAtPercentile(share))
      }
    }
  }
  for (const [index, { subject, role }] of rows.entries()) {
    for (const [place, [metric]] of PERCENTILES.entries()) {
      const at = { keys, depth: one.depth, question: 'random version', ...(isMain && { main: 'yes' }) }
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
