import { parseTypeTag } from '@ledger-state/type-tag'
import fc from 'fast-check'
import { expect, it } from 'vitest'
import { ParsedTexts } from './parsed-texts.js'

it('ParsedTexts parses a text once while it is kept', () => {
  const types = new ParsedTexts(1 << 16, parseTypeTag, () => 100)
  expect(types.parse('0x1::a::B')).toBe(types.parse('0x1::a::B'))
  expect(types.parse('0x1::a::B')).toEqual(parseTypeTag('0x1::a::B'))
})

it('ParsedTexts parses like the parser, faults included, whatever was parsed before', () => {
  const parse = (text: string) => {
    if (text.startsWith('x')) throw new Error(`bad ${text}`)
    return { text }
  }
  const texts = new ParsedTexts(2_000, parse, ({ text }) => text.length)
  const outcome = (work: () => unknown) => {
    try {
      return work()
    } catch (error) {
      return (error as Error).message
    }
  }
  fc.assert(
    fc.property(fc.string({ unit: 'grapheme', maxLength: 20 }), (text) => {
      expect(outcome(() => texts.parse(text))).toEqual(outcome(() => parse(text)))
      expect(texts.size).toBeLessThanOrEqual(2_000)
    }),
  )
})

it('ParsedTexts keeps neither long texts nor large values', () => {
  const texts = new ParsedTexts(
    1 << 20,
    (text) => ({ text }),
    ({ text }) => (text === 'large' ? 1 << 19 : 0),
  )
  texts.parse('large')
  texts.parse('a'.repeat(100_000))
  expect(texts.size).toBe(0)
})
