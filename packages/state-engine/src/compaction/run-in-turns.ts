import { setImmediate as nextTurn } from 'node:timers/promises'

/**
 * Does work in steps, with turns for other work between them.
 * @param onStep called after each step; if it throws, the work ends there
 */
export async function runInTurns<Step, T>(
  steps: Generator<Step, T>,
  onStep: (step: Step) => void = () => {},
): Promise<T> {
  try {
    for (let step = steps.next(); ; step = steps.next()) {
      if (step.done) return step.value
      onStep(step.value)
      await nextTurn()
    }
  } finally {
    steps.return(undefined as never)
  }
}
