import fc from 'fast-check'
import { expect, it } from 'vitest'
import { formatAmount, formatMicroseconds, groupDigits } from './amount.ts'

it('an amount keeps every digit', () => {
  fc.assert(
    fc.property(
      fc.bigInt({ min: -(2n ** 256n), max: 2n ** 256n }),
      fc.integer({ min: 0, max: 40 }),
      (units, decimals) => {
        const text = formatAmount(String(units), decimals).replaceAll('\u2009', '').replace('−', '-')
        const [whole, fraction = ''] = text.replace('-', '').split('.') as [string, string?]
        const back = BigInt(whole + fraction.padEnd(decimals, '0'))
        expect(text.startsWith('-') ? -back : back).toBe(units)
      },
    ),
  )
})

it('digits are in groups of three', () => {
  expect(groupDigits('1234567')).toBe('1\u2009234\u2009567')
  expect(formatAmount('5', 8)).toBe('0.00000005')
  expect(formatAmount('100000000', 8)).toBe('1')
})

it('a time is in UTC; genesis has none, and a number beyond all dates stays a number', () => {
  expect(formatMicroseconds('1735691100000000')).toBe('2025-01-01 00:25:00 UTC')
  expect(formatMicroseconds('0')).toBe('genesis')
  expect(formatMicroseconds('8640000000000000001')).toBe('8\u2009640\u2009000\u2009000\u2009000\u2009000\u2009001 µs')
})
