import { createRandom, testSeed } from './random.ts'

/** One of each `among` neighbours in the order of the names, which `TEST_SEED` chooses: each file is in a run with the same chance. */
export function sampleFiles(files: readonly string[], among: number): string[] {
  const random = createRandom(testSeed())
  // A small seed gives small numbers first.
  for (let at = 0; at < 20; at++) random.below(2)
  const sorted = files.toSorted()
  const chosen: string[] = []
  for (let at = 0; at < sorted.length; at += among) {
    const file = sorted[at + random.below(among)]
    if (file !== undefined) chosen.push(file)
  }
  return chosen
}
