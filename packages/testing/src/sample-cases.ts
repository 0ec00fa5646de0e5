import { createRandom, testSeed } from './random.ts'
import { fullRounds, testScale } from './test-scale.ts'

/** Chooses cases of a long test by `TEST_SEED`, in their order: `count` of them, or more with `TEST_SCALE`. */
export function sampleCases<T>(cases: readonly T[], count: number): readonly T[] {
  const wanted = fullRounds(count)
  const random = createRandom(testSeed())
  // The first numbers of a small seed are small.
  for (let at = 0; at < 20; at++) random.below(2)
  const left = [...cases.keys()]
  while (left.length > wanted) left.splice(random.below(left.length), 1)
  return left.map((at) => cases[at]!)
}

/** Chooses `count` cases by `TEST_SEED` if `TEST_SCALE` is below 1; otherwise all. */
export function sampleInShortRun<T>(cases: readonly T[], count: number): readonly T[] {
  return testScale() < 1 ? sampleCases(cases, count) : cases
}
