import { createStepCounter } from '@ledger-state/testing/count-steps'
import { afterAll, describe, expect, it } from 'vitest'
import { faultsOfProgram, plain, runToEnd, stateOfProgram } from '../../testing/hostile-program-run.js'
import { largeReadPrograms, largeValuePrograms } from '../../testing/hostile-programs.js'
import { TestState } from '../../testing/test-state.js'
import { createVm } from '../index.js'

describe('a large value that a run reads takes several short turns', () => {
  const counter = createStepCounter()
  afterAll(() => counter.stop())

  it.each(largeReadPrograms().map((program, at) => [at, program.kind, program] as const))(
    '%i: %s',
    (_, _kind, program) => {
      expect(faultsOfProgram(program, {}, counter)).toEqual([])
      const { args } = program
      const answers = [1, 1_024, 1e9].map((turn) => {
        return runToEnd(createVm(), stateOfProgram(program), { budget: {}, turn, args })
      })
      expect(answers.map(({ kind }) => kind)).toEqual(['results', 'results', 'results'])
    },
  )
})

describe('a native over a large value has the same results and usage in turns of any size', () => {
  it.each(largeValuePrograms(9_000, 2).map((program) => [program.kind, program] as const))('%s', (_, { modules }) => {
    const state = new TestState(modules)
    const answers = [1, 1_024, 1e9].map((turn) => {
      let turns = 0
      const outcome = runToEnd(createVm(), state, { budget: {}, turn }, (step) => {
        turns++
        return step()
      })
      return { turns, text: JSON.stringify(outcome, plain), kind: outcome.kind }
    })
    expect(answers.map(({ kind }) => kind)).toEqual(['results', 'results', 'results'])
    expect(new Set(answers.map(({ text }) => text)).size).toBe(1)
    expect(answers[0]!.turns).toBeGreaterThan(answers[1]!.turns)
  })
})
