import { expect, it } from 'vitest'
import { parseInterval } from './parse-interval.js'

it.each([
  ['1s', 1n],
  ['90s', 90n],
  ['15m', 900n],
  ['2h', 7_200n],
  ['1d', 86_400n],
  ['1w', 604_800n],
])('%s is %i seconds', (text, seconds) => {
  expect(parseInterval(text)).toBe(seconds * 1_000_000n)
})

it.each(['', '1', 'd', '0s', '-1d', '1.5h', '1D', '1 d', '1y', '9999999s'])('parseInterval refuses %j', (text) => {
  expect(() => parseInterval(text)).toThrow(expect.objectContaining({ code: 'invalid_timestamp' }))
})
