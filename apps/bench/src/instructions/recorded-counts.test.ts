import { expect, it } from 'vitest'
import { differenceOf, readRecordedCounts } from './recorded-counts.ts'

it('the comparison finds counts that grew or shrank, and not those that are a little different', () => {
  expect(differenceOf(10_300, 10_000)).toBeUndefined()
  expect(differenceOf(9_700, 10_000)).toBeUndefined()
  expect(differenceOf(10_500, 10_000)).toBe('10,500 instructions, 1.050 times the recorded 10,000')
  expect(differenceOf(9_000, 10_000)).toBe('9,000 instructions, 0.900 times the recorded 10,000')
  expect(differenceOf(10_000, undefined)).toBe('10,000 instructions, without a recorded count')
})

it('the counts were recorded with this version of Node.js', () => {
  expect(readRecordedCounts()).toMatchObject({ node: process.version, counts: { 'look-up': expect.any(Number) } })
})
