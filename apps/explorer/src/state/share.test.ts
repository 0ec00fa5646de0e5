import { expect, it } from 'vitest'
import { formatShare, shareOf } from './share.ts'

it('a share is exact for numbers that JavaScript cannot hold, and there is none of nothing', () => {
  expect(shareOf('1', '3')).toBe(33.33)
  expect(shareOf(String(2n ** 127n), String(2n ** 128n))).toBe(50)
  expect(shareOf('1', '0')).toBeUndefined()
  expect(shareOf('1', undefined)).toBeUndefined()
  expect(shareOf('many', '3')).toBeUndefined()
})

it('a very small share does not look like nothing', () => {
  expect(formatShare(0, false)).toBe('< 0.01 %')
  expect(formatShare(0, true)).toBe('0.00 %')
  expect(formatShare(12.5, false)).toBe('12.50 %')
})
