import { createStepCounter } from '@ledger-state/testing/count-steps'
import { createRandom, testSeed } from '@ledger-state/testing/random'
import { isSlowRun } from '@ledger-state/testing/slow-run'
import { afterAll, expect, it } from 'vitest'
import { faultsOfProgram } from '../testing/hostile-program-run.js'
import { randomHostileProgram } from '../testing/hostile-programs.js'

const BUDGET = isSlowRun ? {} : { instructions: 20_000, bytes: 1 << 20 }

const counter = createStepCounter()
afterAll(() => counter.stop())

it('hostile programs do no more work than they are charged for, in bounded turns, and count alike cold and warm', () => {
  const seed = testSeed()
  const random = createRandom(seed)
  const kinds = new Set<string>()
  for (let round = isSlowRun ? 100 : 4; round > 0; round--) {
    const program = randomHostileProgram(random)
    kinds.add(program.kind)
    expect(faultsOfProgram(program, BUDGET, counter), `TEST_SEED=${seed}, ${program.kind}`).toEqual([])
  }
  expect(kinds.size).toBeGreaterThan(0)
})
