import { parseStructTag, typeTagToText } from '@ledger-state/type-tag'
import fc from 'fast-check'
import { expect, it } from 'vitest'
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
