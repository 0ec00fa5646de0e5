import { expect, it } from 'vitest'
import { parseRetryAfter } from './retry-after.js'

const NOW = Date.parse('2026-01-01T00:00:00Z')
const LONGEST_MS = 300_000

it.each([
  ['0', 0],
  ['3', 3_000],
  ['86400', LONGEST_MS],
  ['9'.repeat(400), LONGEST_MS],
  ['Thu, 01 Jan 2026 00:00:09 GMT', 9_000],
  ['Wed, 31 Dec 2025 00:00:00 GMT', 0],
  ['Fri, 01 Jan 2027 00:00:00 GMT', LONGEST_MS],
  ['soon', undefined],
  ['', undefined],
  [null, undefined],
])('Retry-After: %j asks for %s ms', (header, milliseconds) => {
  expect(parseRetryAfter(header, LONGEST_MS, NOW)).toBe(milliseconds)
})
