import { expect, it } from 'vitest'
import { formatCount } from './amounts.js'

it.each([0, 7, 999, 1_000, 12_345, 999_999, 1_000_000, 2 ** 53 - 1, 2n ** 64n, 10n ** 18n, 123n])(
  'formatCount formats %s as toLocaleString does',
  (count) => {
    expect(formatCount(count)).toBe(count.toLocaleString('en-US'))
  },
)
