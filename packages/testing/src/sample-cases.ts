import { createRandom, testSeed } from './random.ts'

/** Chooses `count` cases of a long test by `TEST_SEED`, in their order; all of them if `ALL_CASES=1`. */
export function sampleCases<T>(cases: readonly T[], count: number): readonly T[] {
  if (process.env.ALL_CASES === '1') return cases
  const random = createRandom(testSeed())
  // The first numbers of a small seed are small.
  for (let at = 0; at < 20; at++) random.below(2)
  const left = [...cases.keys()]
  while (left.length > count) left.splice(random.below(left.length), 1)
  return left.map((at) => cases[at]!)
}
