import { parseTypeTag } from '@ledger-state/type-tag'
import { expect, it } from 'vitest'
import { Meter } from '../budget/meter.js'
import { DEFAULT_BUDGET } from '../budget/view-budget.js'
import { TypeTable } from '../run/type-table.js'
import type { Type } from '../types/type.js'
import { EqualityTest, OrderTest } from './compare-values.js'
import { ClosureValue } from './value.js'

const types = new TypeTable()
const of = (text: string): Type => types.ofTag(parseTypeTag(text))
const u8 = of('u8')
const bool = of('bool')

/** Lists of type arguments in the order of their tags, which is not that of their texts. */
const IN_ORDER: readonly (readonly Type[])[] = [
  [],
  ...['bool', 'u8', 'u64', 'u128', 'address'].map((text) => [of(text)]),
  ...['vector<bool>', 'vector<u8>', 'vector<vector<bool>>', 'vector<0x1::a::A>', 'vector<u16>'].map((text) => [
    of(text),
  ]),
  [of('0x1::a::Z')],
  [of('0x1::b::A')],
  [of('0x1::b::A<u64>')],
  [of('0x1::b::A<u64, u8>')],
  [of('0x1::b::A<u16>')],
  [of('0x1::b::B')],
  [of('0x10::a::A')],
  [of('u16')],
  [of('u16'), of('bool')],
  [of('u16'), of('i8')],
  [of('u32')],
  [of('u256')],
  [types.function([], [], 0)],
  [types.function([], [], 7)],
  [types.function([], [u8], 0)],
  [types.function([types.reference(u8, false)], [], 0)],
  [types.function([types.reference(u8, false), bool], [], 0)],
  [types.function([types.reference(bool, true)], [], 0)],
  [types.function([types.reference(u8, true)], [], 0)],
  [types.function([bool], [], 0)],
  [of('i8')],
  [of('i256')],
]

const closureOf = (typeArguments: readonly Type[], name = 'f') =>
  new ClosureValue({ address: '1'.padStart(64, '0'), module: 'm', name, typeArguments }, 0n, [], [])

it('closures of one function are in the order of the tags of their type arguments', () => {
  const closures = IN_ORDER.map((typeArguments) => closureOf(typeArguments))
  const meter = new Meter(DEFAULT_BUDGET)
  const wrong = closures.flatMap((left, a) =>
    closures.flatMap((right, b) => {
      const { result } = new OrderTest(left, right, meter).continue()!
      const isEqual = new EqualityTest(meter).begin(left, right)
      return Math.sign(result) === Math.sign(a - b) && isEqual === (a === b) ? [] : [`${a} and ${b}: ${result}`]
    }),
  )
  expect(wrong).toEqual([])
})

it('closures of equal targets are equal, whichever code has made them', () => {
  const [left, right] = [closureOf([of('vector<u64>')]), closureOf([of('vector<u64>')])]
  const meter = new Meter(DEFAULT_BUDGET)
  expect(new EqualityTest(meter).begin(left, right)).toBe(true)
  expect(new EqualityTest(meter).begin(left, closureOf(left.target.typeArguments, 'g'))).toBe(false)
  expect(new OrderTest(left, right, meter).continue()).toEqual({ result: 0 })
  expect(new OrderTest(left, closureOf([], 'g'), meter).continue()!.result).toBeLessThan(0)
})
