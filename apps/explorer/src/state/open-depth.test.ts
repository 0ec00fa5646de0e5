import { expect, it } from 'vitest'
import { openDepthOf } from './open-depth.ts'

const list = (length: number, member: unknown) => new Array<unknown>(length).fill(member)

it('small values are open to the third level, and values with many members less far', () => {
  expect(openDepthOf('text')).toBe(3)
  expect(openDepthOf({ a: { b: { c: { d: 1 } } } })).toBe(3)
  expect(openDepthOf(list(7, list(7, list(7, 1))))).toBe(3)
  expect(openDepthOf(list(1_000_000, '1'))).toBe(3)
  expect(openDepthOf(list(50, list(50, list(50, '1'))))).toBe(1)
  expect(openDepthOf({ a: list(50, list(50, '1')) })).toBe(2)
  expect(openDepthOf(list(50, list(50, '1')), 2)).toBe(3)
})
