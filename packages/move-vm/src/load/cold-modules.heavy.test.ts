import { type AssembledFunction, type Assembly, assembleModule } from '@ledger-state/move-module'
import { createStepCounter } from '@ledger-state/testing/count-steps'
import { afterAll, expect, it } from 'vitest'
import { runToEnd } from '../../testing/hostile-program-run.js'
import { TestState } from '../../testing/test-state.js'
import { createVm, type ViewProgress } from '../index.js'

const MOST_STEPS_OF_A_TURN = 20_000

const counter = createStepCounter()
afterAll(() => counter.stop())

const view: AssembledFunction = { name: 'f', results: [{ kind: 'u64' }], code: [['ld_u64', 1], ['ret']] }

function moduleOf(functions: number): Assembly {
  return {
    name: 'm',
    functions: [
      view,
      ...Array.from(
        { length: functions },
        (_, at): AssembledFunction => ({
          name: `g${at}`,
          isView: false,
          code: [['ld_u64', at], ['pop'], ['ret']],
        }),
      ),
    ],
  }
}

it('a large module is decoded in many short turns', () => {
  const module = moduleOf(2_500)
  expect(assembleModule(module).length).toBeGreaterThan(40_000)
  const turns: number[] = []
  const outcome = runToEnd(createVm(), new TestState([module]), { budget: {}, turn: 2_048 }, (step) => {
    let progress: ViewProgress | undefined
    turns.push(
      counter.count(() => {
        progress = step()
      }),
    )
    return progress!
  })
  expect(outcome.kind).toBe('results')
  expect(turns.length).toBeGreaterThan(8)
  expect(Math.max(...turns)).toBeLessThan(MOST_STEPS_OF_A_TURN)
})
