import fc from 'fast-check'
import { expect, it } from 'vitest'
import { parseExactly } from './exact-json.ts'

it('keeps each digit of long whole numbers, as texts', () => {
  expect(parseExactly('[9007199254740993,{"a":-18446744073709551615},"9007199254740993",1.5,1e30]')).toEqual([
    '9007199254740993',
    { a: '-18446744073709551615' },
    '9007199254740993',
    1.5,
    1e30,
  ])
  expect(parseExactly('[1.12345678901234567890, 12345678901234567.5]')).toEqual([1.1234567890123457, 12345678901234568])
})

it('parses all other JSON as JSON.parse does, and refuses what it refuses', () => {
  const isShort = (json: string) => !/\d{16}/.test(json)
  fc.assert(
    fc.property(fc.json().filter(isShort), (json) => {
      expect(parseExactly(json)).toEqual(JSON.parse(json))
    }),
  )
  fc.assert(
    fc.property(fc.string(), (text) => {
      const json = JSON.stringify([text, { [text]: 7 }])
      expect(parseExactly(json)).toEqual(JSON.parse(json))
    }),
  )
  for (const bad of ['', '[', '01234567890123456789', '12345678901234567890123 4']) {
    expect(() => parseExactly(bad), bad).toThrow(SyntaxError)
  }
})
