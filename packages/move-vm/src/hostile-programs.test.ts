import { createStepCounter } from '@ledger-state/testing/count-steps'
import { createRandom, testSeed } from '@ledger-state/testing/random'
import { afterAll, expect, it } from 'vitest'
import { faultsOfProgram } from '../testing/hostile-program-run.js'
import { randomHostileProgram } from '../testing/hostile-programs.js'

// One program with a small budget: the slow test runs many with the budget of a node.
const BUDGET = { instructions: 5_000, bytes: 1 << 18 }
/** Counting the steps of a program of 1.8 MB takes 11 s on an idle machine, and took 71 s on a busy one. */
const TIMEOUT_MS = 240_000

const counter = createStepCounter()
afterAll(() => counter.stop())

it('a hostile program does no more work than it is charged for, in bounded turns, and counts alike cold and warm', {
  timeout: TIMEOUT_MS,
}, () => {
  const seed = testSeed()
  const program = randomHostileProgram(createRandom(seed))
  expect(faultsOfProgram(program, BUDGET, counter), `TEST_SEED=${seed}, ${program.kind}`).toEqual([])
})
