/** Work in steps, after each of which others may have a turn. */
export type Steps<T> = Generator<undefined, T>

/** The result of steps, all at once. */
export function atOnce<T>(steps: Generator<unknown, T>): T {
  let step = steps.next()
  while (!step.done) step = steps.next()
  return step.value
}

/** Steps that have a result already. */
// biome-ignore lint/correctness/useYield: nothing is left to do
export function* noSteps<T>(result: T): Steps<T> {
  return result
}
