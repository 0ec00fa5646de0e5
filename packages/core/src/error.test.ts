import { expect, expectTypeOf, it } from 'vitest'
import { type ErrorFields, isLedgerStateError, LedgerStateError, type NoFields } from './error.js'

declare module './error.js' {
  interface ErrorFieldsByCode {
    spoon_bent: { readonly degrees: number }
    spoon_lost: { readonly since?: bigint }
  }
}

it('the fields of an error follow from its code', () => {
  const error: unknown = new LedgerStateError('spoon_bent', 'the spoon is bent', { degrees: 90 })
  if (!isLedgerStateError(error, 'spoon_bent')) throw new Error('not the code that was given')
  expectTypeOf(error.fields).toEqualTypeOf<{ readonly degrees: number }>()
  expect(error.fields.degrees).toBe(90)
  expectTypeOf<LedgerStateError<'spoon_bent' | 'spoon_lost'>>().toExtend<LedgerStateError>()
  expectTypeOf<LedgerStateError<'undeclared'>['fields']>().toEqualTypeOf<NoFields>()
  expectTypeOf<LedgerStateError['fields']>().toEqualTypeOf<ErrorFields>()
})

it('fields may be left out where the code has none that must be there', () => {
  expect(new LedgerStateError('spoon_lost', 'the spoon is lost').fields).toEqual({})
  // @ts-expect-error
  expect(new LedgerStateError('spoon_bent', 'the spoon is bent').fields).toEqual({})
  // @ts-expect-error
  expect(new LedgerStateError('spoon_bent', 'the spoon is bent', { degrees: '90' }).message).toContain('spoon')
  // @ts-expect-error
  expect(new LedgerStateError('undeclared', 'the spoon is bent', { degrees: 90 }).message).toContain('spoon')
})
