import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { isU64, parseU64, U64_MAX } from './u64.js'

describe('parseU64', () => {
  it('reads every u64, with leading zeros and one plus', () => {
    fc.assert(
      fc.property(fc.bigInt({ min: 0n, max: U64_MAX }), fc.nat(5), fc.boolean(), (value, zeros, plus) => {
        expect(parseU64(`${plus ? '+' : ''}${'0'.repeat(zeros)}${value}`)).toBe(value)
      }),
    )
  })

  it.each(['', '+', '-1', ' 1', '1 ', '0x1', '1e3', '++1', '18446744073709551616', '9'.repeat(100_000), '١'])(
    'refuses %j',
    (text) => {
      expect(() => parseU64(text)).toThrow(expect.objectContaining({ code: 'invalid_u64' }))
    },
  )
})

describe('isU64', () => {
  it('wants a bigint in range', () => {
    expect([0n, U64_MAX].every(isU64)).toBe(true)
    expect([-1n, U64_MAX + 1n, 1, '1', undefined].some(isU64)).toBe(false)
  })
})
