import fc from 'fast-check'
import { expect, it } from 'vitest'
import { readJson, textReaderOf } from './argument-text.ts'

const read = (type: string, text: string) => textReaderOf(type)!(text)

it('an integer is read exactly within the range of its type, and refused with the range outside of it', () => {
  const types = fc.record({ isSigned: fc.boolean(), bits: fc.constantFrom(8, 16, 32, 64, 128, 256) })
  fc.assert(
    fc.property(types, fc.bigInt(-(2n ** 260n), 2n ** 260n), ({ isSigned, bits }, value) => {
      const least = isSigned ? -(2n ** BigInt(bits - 1)) : 0n
      const most = 2n ** BigInt(isSigned ? bits - 1 : bits) - 1n
      const answer = read(`${isSigned ? 'i' : 'u'}${bits}`, ` ${value} `)
      if (value < least || value > most) expect(answer).toEqual({ problem: `It must be from ${least} to ${most}.` })
      else expect(answer).toEqual({ json: bits > 32 ? `"${value}"` : `${value}` })
    }),
  )
})

it('says what is wrong with a text', () => {
  expect(read('u8', '')).toEqual({ problem: 'A number is missing.' })
  expect(read('u64', '1.5')).toEqual({ problem: '“1.5” is not a whole number.' })
  expect(read('u64', '9'.repeat(500))).toHaveProperty('problem')
  expect(read('address', '')).toEqual({ problem: 'An address is missing.' })
  expect(read('address', '0xzz')).toHaveProperty('problem')
  expect(read('address', `0x${'a'.repeat(65)}`)).toHaveProperty('problem')
  expect(readJson('[1,')).toEqual({ problem: expect.stringMatching(/^This is not JSON: /) })
  expect(readJson(' ')).toEqual({ problem: 'A value is missing.' })
})

it('reads addresses with and without 0x, objects by their address, and any text as a string', () => {
  expect(read('address', 'a11ce')).toEqual({ json: '"0xa11ce"' })
  expect(read('0x1::object::Object', '0xA')).toEqual({ json: '{"inner":"0xA"}' })
  expect(read('0x1::string::String', '"')).toEqual({ json: '"\\""' })
  expect(readJson('[1]')).toEqual({ json: '[1]' })
  expect(textReaderOf('vector')).toBeUndefined()
})
