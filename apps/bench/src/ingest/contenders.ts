import type { Role } from '../report/measure.ts'
import type { BenchRun } from '../run/bench-run.ts'

/** The first commit of an ingest: the time when it was durable, by `performance.now()`, and its versions. */
export interface FirstCommit {
  readonly at: number
  readonly versions: number
}

export interface IngestContender {
  readonly subject: string
  readonly role: Role
  /** CPU time of the source if that is a separate process, as in `SourceProcess`. */
  readonly sourceCpuTime?: () => number | undefined
  /** Subject to compare this rate with, in the same round. */
  readonly comparedWith?: string
  run(folder: string): Promise<FirstCommit | undefined>
}

interface Plan {
  readonly title: string
  readonly metric: 'versions' | 'writes'
  /** Number of versions that one run ingests. */
  readonly count: number
  /** Whether to measure the time until the first commit and the rate after it separately. */
  readonly isSplit?: boolean
  /** Number of rounds; by default one at the tiny scale, and seven at others. */
  readonly rounds?: number
}

interface Costs {
  readonly rates: number[]
  readonly steadyRates: number[]
  readonly startSeconds: number[]
  readonly cpu: number[]
  readonly sourceCpu: number[]
}

/** Lets contenders take turns, and records their rates, rates divided by rates of the same round, and CPU times. */
export async function measureContenders(
  run: BenchRun,
  contenders: readonly IngestContender[],
  plan: Plan,
): Promise<void> {
  const { count, rounds = run.byScale({ tiny: 1, small: 7, medium: 7, large: 7 }) } = plan
  const all = contenders.map((): Costs => ({ rates: [], steadyRates: [], startSeconds: [], cpu: [], sourceCpu: [] }))
  for (let round = -1; round < rounds; round++) {
    run.step(round < 0 ? 'warming up' : `round ${round + 1} of ${rounds}`)
    for (const [at, contender] of contenders.entries()) {
      const folder = run.folder('ingest')
      const sourceBefore = contender.sourceCpuTime?.()
      const cpuBefore = process.cpuUsage()
      const began = performance.now()
      const first = await contender.run(folder)
      const ended = performance.now()
      const { user, system } = process.cpuUsage(cpuBefore)
      run.removeFolder('ingest')
      if (round < 0) continue
      const costs = all[at]!
      costs.rates.push((1_000 * count) / (ended - began))
      costs.cpu.push((user + system) / count)
      if (sourceBefore !== undefined) costs.sourceCpu.push((contender.sourceCpuTime!()! - sourceBefore) / count)
      if (!plan.isSplit || !first) continue
      costs.startSeconds.push((first.at - began) / 1_000)
      if (first.versions < count) costs.steadyRates.push((1_000 * (count - first.versions)) / (ended - first.at))
    }
  }
  for (const [at, contender] of contenders.entries()) {
    const other = all[contenders.findIndex(({ subject }) => subject === contender.comparedWith)]
    record(run, contender, plan, all[at]!, other)
  }
}

function record(run: BenchRun, contender: IngestContender, plan: Plan, costs: Costs, other: Costs | undefined): void {
  const { subject, role, comparedWith } = contender
  const { title, metric } = plan
  const one = metric === 'writes' ? 'write' : 'version'
  const add = (metric: string, unit: string, rounds: readonly number[], better: 'higher' | 'lower' = 'lower') => {
    if (rounds.length > 0) run.record({ title, subject, role, metric, unit, better, rounds })
  }
  const ratios = (rates: readonly number[], others: readonly number[] | undefined): number[] =>
    others ? rates.map((rate, round) => rate / others[round]!) : []
  add(metric, '1/s', costs.rates, 'higher')
  add(`÷ ${comparedWith}`, '', ratios(costs.rates, other?.rates), 'higher')
  add('until the first commit', 's', costs.startSeconds)
  add(`${metric}, after it`, '1/s', costs.steadyRates, 'higher')
  add(`÷ ${comparedWith}, after it`, '', ratios(costs.steadyRates, other?.steadyRates), 'higher')
  add(`CPU time of a ${one}`, 'µs', costs.cpu)
  add(`CPU time of a ${one} in the source`, 'µs', costs.sourceCpu)
}
