import { createRandom, testSeed } from './random.ts'

/** Some of the cases of a long test, in their order, which `TEST_SEED` chooses; all of them where `ALL_CASES=1`. */
export function sampleCases<T>(cases: readonly T[], count: number): readonly T[] {
  if (process.env.ALL_CASES === '1') return cases
  const random = createRandom(testSeed())
  // A small seed gives small numbers first.
  for (let at = 0; at < 20; at++) random.below(2)
  const left = [...cases.keys()]
  while (left.length > count) left.splice(random.below(left.length), 1)
  return left.map((at) => cases[at]!)
}
