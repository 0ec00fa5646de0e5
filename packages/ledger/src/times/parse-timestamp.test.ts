import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { parseTimestamp } from './parse-timestamp.js'

describe('a timestamp', () => {
  it('is microseconds since 1970', () => {
    expect(parseTimestamp('0')).toBe(0n)
    expect(parseTimestamp('+001')).toBe(1n)
    expect(parseTimestamp('18446744073709551615')).toBe(0xffff_ffff_ffff_ffffn)
  })

  it('is RFC 3339 with Z or an offset', () => {
    for (const [text, usec] of [
      ['1970-01-01T00:00:00Z', 0n],
      ['2026-01-31T00:00:00Z', 1_769_817_600_000_000n],
      ['2026-01-31t01:30:00.5+01:30', 1_769_817_600_500_000n],
      ['2026-01-31T01:30:00 01:30', 1_769_817_600_000_000n],
      ['2026-01-30 23:00:00.0000019-01:00', 1_769_817_600_000_001n],
      ['2016-12-31T23:59:60Z', 1_483_228_800_000_000n],
      ['2024-02-29T00:00:00z', 1_709_164_800_000_000n],
    ] as const) {
      expect(parseTimestamp(text), text).toBe(usec)
    }
  })

  it('is the first microsecond of a date', () => {
    expect(parseTimestamp('2025-01-01')).toBe(1_735_689_600_000_000n)
  })

  it.each([
    ['1735689600', 'seconds'],
    ['1000000000', 'seconds'],
    ['1735689600000', 'milliseconds'],
    ['9999999999999', 'milliseconds'],
  ])('is not %s, which would be %s', (text, unit) => {
    const message = new RegExp(`in microseconds it is 1970-.*Z; for .*Z, which it is in ${unit}, send \\d{16}$`)
    expect(() => parseTimestamp(text)).toThrow(message)
  })

  it('suggests the corrected time', () => {
    expect(() => parseTimestamp('1735689600')).toThrow(
      '"1735689600" is not a time: in microseconds it is 1970-01-01T00:28:55.689600Z; for 2025-01-01T00:00:00Z, which it is in seconds, send 1735689600000000',
    )
  })

  it('reads the output of Date', () => {
    fc.assert(
      fc.property(fc.date({ min: new Date(0), max: new Date('9999-12-31T23:59:59Z'), noInvalidDate: true }), (date) => {
        expect(parseTimestamp(date.toISOString())).toBe(BigInt(date.getTime()) * 1_000n)
      }),
    )
  })

  it.each([
    '',
    '-1',
    '1.5',
    '18446744073709551616',
    '2026-02-29',
    '2026-01',
    '2026-01-31T00:00:00',
    '2026-02-29T00:00:00Z',
    '2026-13-01T00:00:00Z',
    '2026-00-01T00:00:00Z',
    '2026-01-31T24:00:00Z',
    '2026-01-31T00:60:00Z',
    '2026-01-31T00:00:00+24:00',
    '2026-01-31T00:00:00.Z',
    '1969-12-31T23:59:59Z',
    '0070-01-01T00:00:00Z',
    '1970-01-01T00:00:00+01:00',
  ])('is not %j', (text) => {
    expect(() => parseTimestamp(text)).toThrow(expect.objectContaining({ code: 'invalid_timestamp' }))
  })
})
