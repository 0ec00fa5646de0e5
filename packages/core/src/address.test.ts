import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { addressToLongHex, addressToShortHex, parseAddress } from './address.js'
import { isLedgerStateError } from './error.js'

const addressBytes = fc.uint8Array({ minLength: 32, maxLength: 32 })

describe('parseAddress', () => {
  it('reads its own short and long forms, with and without 0x, in any case', () => {
    fc.assert(
      fc.property(addressBytes, (address) => {
        for (const text of [addressToShortHex(address), addressToLongHex(address)]) {
          expect(parseAddress(text)).toEqual(address)
          expect(parseAddress(text.slice(2))).toEqual(address)
          expect(parseAddress(`0x${text.slice(2).toUpperCase()}`)).toEqual(address)
        }
      }),
    )
  })

  it.each(['', '0x', '0xzz', '0X1', 'xyz', '0x1 ', `0x${'1'.repeat(65)}`, '0x1\u{1f600}'])('refuses %j', (text) => {
    expect(() => parseAddress(text)).toThrow(expect.objectContaining({ code: 'invalid_address' }))
  })

  it('names the bad character and its position', () => {
    try {
      parseAddress('0x12g4')
      expect.unreachable()
    } catch (error) {
      expect(isLedgerStateError(error, 'invalid_address') && error.message).toContain("'g' at position 2")
    }
  })
})

describe('addressToShortHex', () => {
  it.each([
    [0, '0x0'],
    [1, '0x1'],
    [16, '0x10'],
  ])('drops the leading zeros of %i', (last, text) => {
    const address = new Uint8Array(32)
    address[31] = last
    expect(addressToShortHex(address)).toBe(text)
  })
})
