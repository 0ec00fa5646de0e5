import fc from 'fast-check'
import { expect, it } from 'vitest'
import { formatTimestamp } from './format-timestamp.js'
import { parseTimestamp } from './parse-timestamp.js'

it('a timestamp as text is ISO 8601 in UTC', () => {
  expect(formatTimestamp(0n)).toBe('1970-01-01T00:00:00Z')
  expect(formatTimestamp(1_735_691_100_000_000n)).toBe('2025-01-01T00:25:00Z')
  expect(formatTimestamp(1_735_691_100_000_010n)).toBe('2025-01-01T00:25:00.000010Z')
  expect(formatTimestamp(0xffff_ffff_ffff_ffffn)).toBe('18446744073709551615')
})

it('a timestamp as text is read back as the same time', () => {
  const lastOfYear9999 = 253_402_300_799_999_999n
  fc.assert(
    fc.property(fc.bigInt(0n, lastOfYear9999), (timestampUsec) => {
      expect(parseTimestamp(formatTimestamp(timestampUsec))).toBe(timestampUsec)
    }),
  )
})
