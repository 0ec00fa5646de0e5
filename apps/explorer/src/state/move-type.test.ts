import { expect, it } from 'vitest'
import { isMoveType, parseMoveType, withArguments } from './move-type.ts'

it('parseMoveType reads the name and the type arguments of a type', () => {
  const type = parseMoveType('0x1::a::Map<u64, 0x1::b::Pair<vector<u8>, address>>')
  expect([type.name, type.parameters.map(({ text }) => text)]).toEqual([
    '0x1::a::Map',
    ['u64', '0x1::b::Pair<vector<u8>, address>'],
  ])
  expect(type.parameters[1]!.parameters[0]).toMatchObject({ name: 'vector', parameters: [{ name: 'u8' }] })
  expect(parseMoveType('u64')).toEqual({ text: 'u64', name: 'u64', parameters: [] })
})

it('withArguments puts type arguments instead of type parameters', () => {
  const { parameters } = parseMoveType('0x1::a::Pair<u8, vector<bool>>')
  expect(withArguments('0x1::b::C<T1, T0>', parameters)).toBe('0x1::b::C<vector<bool>, u8>')
})

it.each([
  ['u64', true],
  ['vector< 0x1::option::Option<address> >', true],
  ['0x1::pool::Pool<0x1::coin::Apt, vector<u8>>', true],
  ['|u64|bool has copy', true],
  ['', false],
  ['zz', false],
  ['u65', false],
  ['u8<u8>', false],
  ['vector', false],
  ['vector<u8, u8>', false],
  ['0x1::coin', false],
  ['0x1::coin::Coin<zz>', false],
  ['0x1::coin::Coin<u8', false],
])('%s is a type: %s', (text, is) => {
  expect(isMoveType(parseMoveType(text))).toBe(is)
})
