import { expect, it } from 'vitest'
import { countChanges, countText } from './count-text.ts'

it('counts with the right noun', () => {
  expect([0, 1, 2, 1_234].map((count) => countText(count, 'change'))).toEqual([
    'no changes',
    '1 change',
    '2 changes',
    '1\u2009234 changes',
  ])
})

it('the value that held when the window began is no change', () => {
  expect(countChanges([{ timestamp: '5' }, { timestamp: null }])).toBe(1)
  expect(countChanges([{ timestamp: '0' }])).toBe(1)
})
