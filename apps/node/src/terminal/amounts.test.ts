import { expect, it } from 'vitest'
import { formatCount, formatDuration } from './amounts.js'

it.each([0, 7, 999, 1_000, 12_345, 999_999, 1_000_000, 2 ** 53 - 1, 2n ** 64n, 10n ** 18n, 123n])(
  'formatCount formats %s as toLocaleString does',
  (count) => {
    expect(formatCount(count)).toBe(count.toLocaleString('en-US'))
  },
)

it.each([
  [0.25, '0.3 s'],
  [59, '59 s'],
  [60, '1 min 0 s'],
  [47 * 3_600 + 59 * 60, '47 h 59 min'],
  [48 * 3_600, '2 d 0 h'],
  [60_244_386, '697 d 6 h'],
])('formatDuration formats %d seconds as %s', (seconds, text) => {
  expect(formatDuration(seconds)).toBe(text)
})
