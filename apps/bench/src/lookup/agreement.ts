import type { BenchRun } from '../bench-run.js'
import type { Answer } from '../stores/store.js'
import type { Workload } from '../workload.js'
import type { Contestant } from './contestants.js'

/** All stores answer a sample of questions alike, or there is nothing to compare. */
export async function expectAgreement(
  run: BenchRun,
  contestants: readonly Contestant[],
  workload: Workload,
): Promise<void> {
  const count = run.byScale({ tiny: 2_000, small: 100_000, medium: 100_000, large: 100_000 })
  run.step(`asking all of them ${count} questions`)
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
      throw new Error(`${answering[0]!.name} and ${answering[odd]!.name} do not agree at version ${question.version}`)
  }
}

function isSame(a: Answer, b: Answer): boolean {
  return a === undefined || b === undefined ? a === b : Buffer.compare(a, b) === 0
}
