import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { bytesToHex, hexToBytes } from './hex.js'

describe('hexToBytes', () => {
  it('undoes bytesToHex, with or without 0x, in any case', () => {
    fc.assert(
      fc.property(fc.uint8Array(), (bytes) => {
        const text = bytesToHex(bytes)
        expect(hexToBytes(text)).toEqual(bytes)
        expect(hexToBytes(text.slice(2).toUpperCase())).toEqual(bytes)
      }),
    )
  })

  it('refuses an odd number of digits and names a bad character', () => {
    expect(() => hexToBytes('0x123')).toThrow(/odd number of digits/)
    expect(() => hexToBytes('0xab0g')).toThrow(/'g' at position 3/)
    expect(() => hexToBytes('0X01')).toThrow(/'X' at position 1/)
    expect(() => hexToBytes('0x\u{1f600}')).toThrow(/'\u{1f600}' at position 0/u)
  })
})
