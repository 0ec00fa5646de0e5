import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import {
  ALL_TRANSACTION_INDEXES,
  decodeWholeTransactionsMark,
  encodeWholeTransactionsMark,
  TRANSACTION_INDEXES,
  wholeTransactionsBegin,
} from './whole-transactions-mark.js'

const marks = fc.record({
  hashSalt: fc.option(
    fc.string({ minLength: 1 }).filter((word) => !word.startsWith('\0')),
    { nil: undefined },
  ),
  indexes: fc.subarray([...TRANSACTION_INDEXES]).map((indexes) => new Set(indexes)),
})

describe('the mark of whole transactions', () => {
  it('is read as it was written', () => {
    fc.assert(
      fc.property(marks, (mark) => {
        const value = encodeWholeTransactionsMark(mark)
        expect(decodeWholeTransactionsMark(value)).toEqual(mark)
        expect(wholeTransactionsBegin({ version: 7n, value })).toBe(mark.hashSalt === undefined ? undefined : 7n)
      }),
    )
  })

  it('of all indexes is the word of the hashes, and empty in a gap', () => {
    const indexes = ALL_TRANSACTION_INDEXES
    expect(Buffer.from(encodeWholeTransactionsMark({ hashSalt: 'APTOS::', indexes })).toString()).toBe('APTOS::')
    expect(encodeWholeTransactionsMark({ hashSalt: undefined, indexes }).length).toBe(0)
    expect(wholeTransactionsBegin(undefined)).toBeUndefined()
  })
})
