import { Buffer } from 'node:buffer'
import fc from 'fast-check'
import { expect, it } from 'vitest'
import { ByteCollector } from './byte-collector.js'

it('returns the bytes of all pieces that fit, in their order', () => {
  fc.assert(
    fc.property(fc.array(fc.uint8Array({ maxLength: 9 })), fc.nat(60), (pieces, most) => {
      const collected = new ByteCollector(most)
      const expected: Uint8Array[] = []
      for (const piece of pieces) {
        const fits = Buffer.concat([...expected, piece]).length <= most
        expect(collected.add(piece)).toBe(fits)
        if (fits) expected.push(piece)
      }
      expect(collected.take()).toEqual(Buffer.concat(expected))
      expect(collected.take()).toHaveLength(0)
    }),
  )
})

it('changes no piece that it was given', () => {
  const first = Buffer.from('ab')
  const collected = new ByteCollector(10)
  for (const piece of [first.subarray(0, 1), Buffer.from('xyz')]) collected.add(piece)
  expect([collected.takeText(), first.toString()]).toEqual(['axyz', 'ab'])
})
