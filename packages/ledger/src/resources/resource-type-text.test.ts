import { parseAddress } from '@ledger-state/core'
import { parseStructTag, type StructTag, typeTagToText } from '@ledger-state/type-tag'
import { expect, it } from 'vitest'
import { resourceTypeToText } from './resource-type-text.js'

it('the text of a type is canonical', () => {
  for (const text of ['0x1::a::B', '0x1::a::B<u8, vector<0x2::c::D<u64>>>']) {
    expect(resourceTypeToText(parseStructTag(text))).toBe(typeTagToText(parseStructTag(text)))
  }
})

it('the text of a type prints function types without blanks, brackets and abilities', () => {
  const u8 = { kind: 'u8' } as const
  const tag: StructTag = {
    kind: 'struct',
    address: parseAddress('0x1'),
    module: 'a',
    name: 'B',
    typeArguments: [
      {
        kind: 'function',
        parameters: [
          { passing: 'value', type: u8 },
          { passing: 'mutableReference', type: { kind: 'vector', element: u8 } },
        ],
        results: [
          { passing: 'reference', type: u8 },
          { passing: 'value', type: { kind: 'bool' } },
        ],
        abilities: 7,
      },
    ],
  }
  expect(resourceTypeToText(tag)).toBe('0x1::a::B<|u8,&mut vector<u8>|&u8,bool>')
})
