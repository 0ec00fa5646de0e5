import { compareBytes } from '@ledger-state/core/bytes'
import { parseStructTag, type StructTag, typeTagToText } from '@ledger-state/type-tag'
import fc from 'fast-check'
import { expect, it, vi } from 'vitest'
import { compareStructTags } from './compare-struct-tags.js'

const ASCENDING = [
  '0x1::fungible_asset::ConcurrentSupply',
  '0x1::fungible_asset::Metadata',
  '0x1::object::ObjectCore',
  '0x1::object::ObjectCore<bool>',
  '0x1::object::ObjectCore<bool, bool>',
  '0x1::object::ObjectCore<u8>',
  '0x1::object::ObjectCore<u64>',
  '0x1::object::ObjectCore<vector<u8>>',
  '0x1::object::ObjectCore<vector<u64>>',
  '0x1::object::ObjectCore<0x1::a::B>',
  '0x1::object::ObjectCore<0x2::a::B>',
  '0x1::object::ObjectCore<u16>',
  '0x1::object::ObjectCore<i8>',
  '0x2::a::A',
  '0x0100::a::A',
]

it('compareStructTags orders by address, names as text, and type arguments by their number in BCS', () => {
  fc.assert(
    fc.property(fc.shuffledSubarray(ASCENDING), (texts) => {
      const sorted = texts.map((text) => parseStructTag(text)).sort(compareStructTags)
      const expected = ASCENDING.filter((text) => texts.includes(text)).map((text) => parseStructTag(text))
      expect(sorted.map(typeTagToText)).toEqual(expected.map(typeTagToText))
    }),
  )
})

it('compareStructTags orders names by their UTF-8, and encodes none', () => {
  const encoder = new TextEncoder()
  const named = (module: string): StructTag => ({ ...parseStructTag('0x1::a::A'), module })
  const name = fc.string({
    unit: fc.constantFrom('a', 'b', 'é', '\u{d7ff}', '\u{e000}', '\u{ffff}', '\u{10000}', '😀'),
  })
  fc.assert(
    fc.property(name, name, (a, b) => {
      const expected = Math.sign(compareBytes(encoder.encode(a), encoder.encode(b)))
      const encode = vi.spyOn(TextEncoder.prototype, 'encode')
      try {
        expect(Math.sign(compareStructTags(named(a), named(b)))).toBe(expected)
        expect(encode).not.toHaveBeenCalled()
      } finally {
        encode.mockRestore()
      }
    }),
  )
})
