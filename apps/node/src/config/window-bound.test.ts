import { describe, expect, it } from 'vitest'
import { parseWindowBound } from './window-bound.js'

const NOW = Date.parse('2026-11-25T12:00:00Z')
const usec = (time: string) => ({ timeUsec: BigInt(Date.parse(time)) * 1_000n })

describe('parseWindowBound', () => {
  it.each([
    ['0', { version: 0n }],
    ['18446744073709551615', { version: 18446744073709551615n }],
    ['30d', usec('2026-10-26T12:00:00Z')],
    ['90m', usec('2026-11-25T10:30:00Z')],
    ['1h', usec('2026-11-25T11:00:00Z')],
    ['2w', usec('2026-11-11T12:00:00Z')],
    ['999999w', { timeUsec: 0n }],
    ['2026-10-01', usec('2026-10-01T00:00:00Z')],
    ['2026-10-01T06:30', usec('2026-10-01T06:30:00Z')],
    ['2024-02-29', usec('2024-02-29T00:00:00Z')],
    ['2026-10-01T06:30:01.5+02:00', usec('2026-10-01T04:30:01.500Z')],
  ])('reads %s', (text, bound) => {
    expect(parseWindowBound(` ${text}`, NOW)).toEqual({ bound, words: text })
  })

  it.each(['2026-11-26', '2026-11-25T12:00:01Z', '9999-01-01'])('refuses %j, which is in the future', (text) => {
    expect(() => parseWindowBound(text, NOW)).toThrow(
      `"${text}" is in the future: the clock of this machine says 2026-11-25T12:00:00.000Z`,
    )
  })

  it.each([
    '',
    '30y',
    '-1d',
    '2026-13-01',
    '2026-02-30',
    '2026-02-29T12:00Z',
    '2026-04-31T00:00+02:00',
    '2026-10-01Tx',
    '2026-10-01 12:00',
    'yesterday',
    '18446744073709551616',
    '1.5h',
  ])('refuses %j', (text) => {
    expect(() => parseWindowBound(text, NOW)).toThrow(/is not a version, a date|18446744073709551616/)
  })
})
