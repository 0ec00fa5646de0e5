import fc from 'fast-check'
import { expect, it } from 'vitest'
import { addRange, parseRanges, rangesToLines } from './kept-ranges.js'

const range = (first: number, last: number) => ({ firstVersion: BigInt(first), lastVersion: BigInt(last) })

it('joins ranges that touch, and adds nothing that is there', () => {
  const ranges = addRange(addRange([], range(10, 19)), range(30, 39))
  expect(ranges).toEqual([range(10, 19), range(30, 39)])
  expect(addRange(ranges, range(31, 35))).toBe(ranges)
  expect(addRange(ranges, range(20, 29))).toEqual([range(10, 39)])
  expect(addRange(ranges, range(0, 8))).toEqual([range(0, 8), range(10, 19), range(30, 39)])
  expect(parseRanges(rangesToLines(ranges, 'a/transaction.manifest'))).toEqual(ranges)
  expect(parseRanges(`half{\n${rangesToLines(ranges, 'x')}`)).toEqual(ranges)
})

it('holds exactly the versions that were added', () => {
  const some = fc.tuple(fc.nat(60), fc.nat(15)).map(([first, length]) => range(first, first + length))
  fc.assert(
    fc.property(fc.array(some, { maxLength: 12 }), (added) => {
      const ranges = added.reduce(addRange, [])
      const versions = new Set<bigint>()
      for (const { firstVersion, lastVersion } of added) {
        for (let version = firstVersion; version <= lastVersion; version++) versions.add(version)
      }
      const held = ranges.flatMap(({ firstVersion, lastVersion }) =>
        Array.from({ length: Number(lastVersion - firstVersion) + 1 }, (_, at) => firstVersion + BigInt(at)),
      )
      expect(held).toEqual([...versions].sort((a, b) => (a < b ? -1 : 1)))
    }),
  )
})
