import fc from 'fast-check'
import { expect, it } from 'vitest'
import { clip, quote } from './quote.js'

it('quote shows short texts whole and says how long others are', () => {
  expect(clip('0x1')).toBe('0x1')
  expect(clip('a'.repeat(1_000), 4)).toBe('aaaa… (1000 characters)')
  expect(quote('a"b')).toBe('"a\\"b"')
})

it('quote never takes more than 1 KB, whatever the characters', () => {
  const characters = ['\0', '"', '\u20ac', '\ud800', '\u{1f600}', 'a'].map((one) => one.repeat(100_000))
  fc.assert(
    fc.property(fc.oneof(fc.constantFrom(...characters), fc.string({ unit: 'binary', maxLength: 2_000 })), (text) => {
      expect(new TextEncoder().encode(quote(text)).length).toBeLessThanOrEqual(1_024)
    }),
  )
})
