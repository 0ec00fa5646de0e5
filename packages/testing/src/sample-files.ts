import { createRandom, testSeed } from './random.ts'

/** Chooses one of each `among` neighbours in the order of the names, by `TEST_SEED`: all files have the same chance. */
export function sampleFiles(files: readonly string[], among: number): string[] {
  const random = createRandom(testSeed())
  // The first numbers of a small seed are small.
  for (let at = 0; at < 20; at++) random.below(2)
  const sorted = files.toSorted()
  const chosen: string[] = []
  for (let at = 0; at < sorted.length; at += among) {
    const file = sorted[at + random.below(among)]
    if (file !== undefined) chosen.push(file)
  }
  return chosen
}
