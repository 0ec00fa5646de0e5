import type { Random } from '@ledger-state/testing/random'
import { PRIMITIVE_TYPES, parseTypeTag, typeTagToText } from '@ledger-state/type-tag'
import { assert, expectOwnError, mutate, type Target, untilLong } from './target.ts'

const TOKENS = [
  'vector',
  '<',
  '>',
  '::',
  ':',
  ',',
  ' ',
  '\t',
  '0x1',
  '0X0a',
  '0x',
  'u8',
  'u256',
  'i64',
  'bool',
  'coin',
  '_',
  '_a',
  '$',
  '&',
  '&mut ',
  '|',
  'é',
  '\u{1f600}',
]

function generateTypeText(random: Random, depth: number): string {
  const space = () => random.pick(['', '', '', ' ', '\n'])
  switch (depth > 10 ? 0 : random.below(4)) {
    case 0:
      return random.pick(PRIMITIVE_TYPES)
    case 1:
      return `vector${space()}<${generateTypeText(random, depth + 1)}${space()}>`
    default: {
      const inner = Array.from({ length: random.below(3) }, () => generateTypeText(random, depth + 1))
      const generics =
        inner.length > 0 || random.below(8) === 0
          ? `${random.pick(['', '', '::'])}<${inner.join(`,${space()}`)}${random.pick(['', ','])}>`
          : ''
      return `0x${random.below(1000).toString(16)}${space()}::m${random.below(9)}::S${generics}`
    }
  }
}

export const typeTagTarget: Target = {
  name: 'type-tag',
  generate(random) {
    const text =
      random.below(3) === 0
        ? Array.from({ length: random.below(20) }, () => random.pick(TOKENS)).join('')
        : generateTypeText(random, 0)
    const bytes = Buffer.from(text)
    return random.below(2) === 0 ? mutate(random, bytes) : bytes
  },
  generateLong(random, size) {
    const argument = generateTypeText(random, random.below(10))
    return Buffer.from(`0x1::m::S<${untilLong(size, () => argument).join()}>`)
  },
  check(input) {
    const text = Buffer.from(input).toString('utf8')
    try {
      const canonical = typeTagToText(parseTypeTag(text))
      assert(typeTagToText(parseTypeTag(canonical)) === canonical, 'the canonical text does not read back')
    } catch (error) {
      expectOwnError(error, 'invalid_type_tag')
    }
  },
}
