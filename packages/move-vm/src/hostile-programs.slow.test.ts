import { createStepCounter } from '@ledger-state/testing/count-steps'
import { createRandom, testSeed } from '@ledger-state/testing/random'
import { scaledRounds } from '@ledger-state/testing/test-scale'
import { afterAll, expect, it } from 'vitest'
import { faultsOfProgram } from '../testing/hostile-program-run.js'
import { randomHostileProgram } from '../testing/hostile-programs.js'

/** About an hour with `TEST_SCALE=10`; `pnpm fuzz` runs for as long then, and measures CPU time and memory. */
const ROUNDS = Math.max(15, scaledRounds(100))
const LONGEST_ROUND_MS = 60_000

const counter = createStepCounter()
afterAll(() => counter.stop())

it('hostile programs do no more work than they are charged for, in bounded turns, and count alike cold and warm', {
  timeout: ROUNDS * LONGEST_ROUND_MS,
}, () => {
  const seed = testSeed()
  const random = createRandom(seed)
  for (let round = 0; round < ROUNDS; round++) {
    const program = randomHostileProgram(random)
    expect(faultsOfProgram(program, {}, counter), `TEST_SEED=${seed}, ${program.kind}`).toEqual([])
  }
})
