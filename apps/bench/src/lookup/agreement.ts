import type { BenchRun } from '../bench-run.js'
import { type Answer, isAsynchronous } from '../stores/store.js'
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

function isSame(a: Answer, b: Answer): boolean {
  return a === undefined || b === undefined ? a === b : Buffer.compare(a, b) === 0
}
