import type { BenchRun } from '../run/bench-run.ts'
import type { LookupResult } from '../stores/store.ts'
import type { Workload } from '../workload/workload.ts'
import type { Contestant } from './contestants.ts'

/**
 * Asks all stores the same sample of questions.
 * @throws if two of them answer differently
 */
export async function expectAgreement(
  run: BenchRun,
  contestants: readonly Contestant[],
  workload: Workload,
): Promise<void> {
  const count = run.byScale({ tiny: 2_000, small: 100_000, medium: 100_000, large: 100_000 })
  run.step(`asking all stores ${count} questions`)
  const answering = contestants.map(({ store }) => store).filter(({ atVersion }) => atVersion)
  const questions = [
    ...workload.classes.flatMap((one) => [
      ...workload.questions(one, count / 8),
      ...workload.justSuperseded(one, count / 8),
    ]),
    ...workload.deleted(count / 20),
    ...workload.absentKeys(count / 20).map((key) => ({ key, version: workload.latestVersion })),
  ]
  for (const question of questions) {
    const answers = await Promise.all(answering.map((store) => store.atVersion!([question])))
    const odd = answers.findIndex((answer) => !isSame(answer, answers[0]))
    if (odd >= 0)
      throw new Error(
        `${answering[0]!.name} and ${answering[odd]!.name} answer differently at version ${question.version}`,
      )
  }
}

function isSame(a: LookupResult, b: LookupResult): boolean {
  return a === undefined || b === undefined ? a === b : Buffer.compare(a, b) === 0
}
