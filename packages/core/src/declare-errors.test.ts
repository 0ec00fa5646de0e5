import { expect, it } from 'vitest'
import { declareErrors } from './declare-errors.js'
import { isLedgerStateError } from './error.js'

const failed = declareErrors('a_code', {
  plain: (name: string, count = 2) => `${name} ${count}`,
  caused: (cause: unknown) => ['caused', {}, cause],
})
const invalidBcs = declareErrors('invalid_bcs', {
  tooShort: (offset: number) => [`too short at byte ${offset}`, { offset }],
})

it('makes errors with the code of the table and the text of the row', () => {
  const error = failed.plain('x')
  expect(isLedgerStateError(error, 'a_code')).toBe(true)
  expect([error.code, error.message, error.fields]).toEqual(['a_code', 'x 2', {}])
  expect(failed.plain('y', 3).message).toBe('y 3')
  expect('cause' in error).toBe(false)
})

it('makes errors with the fields and the cause of the row', () => {
  const error = invalidBcs.tooShort(7)
  expect([error.message, error.fields.offset]).toEqual(['too short at byte 7', 7])
  const cause = new Error('why')
  expect(failed.caused(cause).cause).toBe(cause)
})
