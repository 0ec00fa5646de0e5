import { createStepCounter } from '@ledger-state/testing/count-steps'
import { afterAll, describe, expect, it } from 'vitest'
import { faultsOfProgram } from '../../testing/hostile-program-run.js'
import { closuresPrograms } from '../../testing/hostile-programs.js'

const CLOSURES = 40
const NAME_LENGTH = 255

const counter = createStepCounter()
afterAll(() => counter.stop())

describe('closures with large type arguments take as much work as they are charged for', () => {
  it.each(closuresPrograms(CLOSURES, NAME_LENGTH).map((program) => [program.kind, program] as const))(
    '%s',
    (_, program) => {
      expect(faultsOfProgram(program, {}, counter)).toEqual([])
    },
  )
})
