import { createStepCounter } from '@ledger-state/testing/count-steps'
import { createRandom, testSeed } from '@ledger-state/testing/random'
import { afterAll, expect, it } from 'vitest'
import { faultsOfProgram } from '../testing/hostile-program-run.js'
import { randomHostileProgram } from '../testing/hostile-programs.js'

const ROUNDS = 100

const counter = createStepCounter()
afterAll(() => counter.stop())

it('hostile programs do no more work than they are charged for, in bounded turns, and count alike cold and warm', () => {
  const seed = testSeed()
  const random = createRandom(seed)
  for (let round = 0; round < ROUNDS; round++) {
    const program = randomHostileProgram(random)
    expect(faultsOfProgram(program, {}, counter), `TEST_SEED=${seed}, ${program.kind}`).toEqual([])
  }
})
