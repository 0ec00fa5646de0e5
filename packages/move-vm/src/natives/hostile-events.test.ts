import { createStepCounter } from '@ledger-state/testing/count-steps'
import { afterAll, expect, it } from 'vitest'
import { faultsOfProgram, runToEnd, stateOfProgram } from '../../testing/hostile-program-run.js'
import { eventsProgram } from '../../testing/hostile-programs.js'
import { createVm } from '../index.js'

const counter = createStepCounter()
afterAll(() => counter.stop())

it('an event costs the same below many waiting callers', () => {
  const program = eventsProgram(1_000, 4_000)
  expect(faultsOfProgram(program, {}, counter)).toEqual([])
  expect(runToEnd(createVm(), stateOfProgram(program), { budget: {}, turn: 1e9 })).toMatchObject({ kind: 'results' })
})
