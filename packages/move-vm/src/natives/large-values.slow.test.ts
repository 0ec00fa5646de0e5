import { createStepCounter } from '@ledger-state/testing/count-steps'
import { afterAll, describe, expect, it } from 'vitest'
import { faultsOfProgram } from '../../testing/hostile-program-run.js'
import { largeValuePrograms } from '../../testing/hostile-programs.js'

const counter = createStepCounter()
afterAll(() => counter.stop())

describe('a native over a large value takes several short turns', () => {
  it.each(largeValuePrograms(10_000, 3).map((program) => [program.kind, program] as const))('%s', (_, program) => {
    expect(faultsOfProgram(program, {}, counter)).toEqual([])
  })
})
