import { JsonTextWriter } from '@ledger-state/bcs'
import { parseAddress } from '@ledger-state/core'
import {
  PRIMITIVE_TYPES,
  parseStructTag,
  type StructTag,
  structTagToBytes,
  type TypeTag,
  typeTagToText,
} from '@ledger-state/type-tag'
import fc from 'fast-check'
import { expect, it } from 'vitest'
import { appendPlainTypeText, resourceTypeToText } from './resource-type-text.js'

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

const name = fc.oneof(
  { weight: 6, arbitrary: fc.stringMatching(/^[a-zA-Z][a-zA-Z0-9_]{0,40}$/) },
  fc.constantFrom('"', 'a\\', 'ä', '\u0001', '\u007f', ''),
)
const address = fc.oneof(
  fc.uint8Array({ minLength: 32, maxLength: 32 }),
  fc.nat(300).map((small) => parseAddress(`0x${small.toString(16)}`)),
)
const { tag: anyTag } = fc.letrec<{ tag: StructTag; type: TypeTag }>((tie) => ({
  tag: fc.record({
    kind: fc.constant('struct' as const),
    address,
    module: name,
    name,
    typeArguments: fc.array(tie('type'), { maxLength: 3, depthIdentifier: 'types' }),
  }),
  type: fc.oneof(
    { maxDepth: 3, depthIdentifier: 'types' },
    { weight: 4, arbitrary: fc.constantFrom(...PRIMITIVE_TYPES).map((kind): TypeTag => ({ kind })) },
    { weight: 4, arbitrary: tie('tag') },
    { weight: 2, arbitrary: tie('type').map((element): TypeTag => ({ kind: 'vector', element })) },
    fc.constant<TypeTag>({ kind: 'function', parameters: [], results: [], abilities: 0 }),
  ),
}))

it('the text of a type is printed from the bytes of its tag, unless it has a function type or escapes', () => {
  fc.assert(
    fc.property(anyTag, (tag) => {
      const expected = JSON.stringify(resourceTypeToText(tag))
      const out = new JsonTextWriter()
      out.byte(0x5b)
      const isPrinted = appendPlainTypeText(structTagToBytes(tag), out)
      const isPlain = /^[ !#-[\]-~]*$/.test(expected.slice(1, -1)) && !expected.includes('|')
      expect(isPrinted).toBe(isPlain)
      expect(out.takeText()).toBe(isPlain ? `[${expected}` : '[')
    }),
    { numRuns: 1_000 },
  )
})
