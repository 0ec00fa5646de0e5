import fc from 'fast-check'
import { expect, it } from 'vitest'
import { findDifferences } from './differences.ts'

it('the comparison of two values lists which leaves differ, were added and were removed', () => {
  expect(findDifferences({ a: '1', b: { c: [1, 2] } }, { a: '1', b: { c: [1, 3, 4] }, d: {} })).toEqual([
    { path: 'b.c.1', before: '2', after: '3' },
    { path: 'b.c.2', before: undefined, after: '4' },
    { path: 'd', before: undefined, after: '{ }' },
  ])
  expect(findDifferences(null, { a: true })).toEqual([{ path: 'a', before: undefined, after: 'true' }])
})

it('the comparison of two values finds none between equal values, and does not run out of stack', () => {
  fc.assert(
    fc.property(fc.jsonValue(), (value) => {
      expect(findDifferences(value, structuredClone(value))).toEqual([])
    }),
  )
  let deep: unknown = 1
  for (let level = 0; level < 10_000; level++) deep = [deep]
  expect(findDifferences(deep, 2)).toHaveLength(2)
})
