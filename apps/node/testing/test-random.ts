import { createRandom, type Random, testSeed } from '@ledger-state/testing/random'
import { onTestFailed } from 'vitest'

/** Random numbers for the current test. If it fails, it prints the seed that repeats it. */
export function testRandom(): Random {
  const seed = testSeed()
  onTestFailed(() => console.error(`TEST_SEED=${seed} repeats the random choices of this test`))
  return createRandom(seed)
}
