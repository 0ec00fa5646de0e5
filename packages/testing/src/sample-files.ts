import { createRandom, testSeed } from './random.ts'

/**
 * One of each two neighbours in the order of the names, and perhaps a last one without a neighbour; `TEST_SEED` chooses which.
 * A test file is left out of a run with the same chance as it is in it.
 */
export function sampleFiles(files: readonly string[]): string[] {
  const random = createRandom(testSeed())
  // A small seed gives small numbers first.
  for (let at = 0; at < 20; at++) random.below(2)
  const sorted = files.toSorted()
  const chosen: string[] = []
  for (let at = 0; at < sorted.length; at += 2) {
    const file = sorted[at + random.below(2)]
    if (file !== undefined) chosen.push(file)
  }
  return chosen
}
