import fc from 'fast-check'
import { expect, it } from 'vitest'
import { partitionPoint } from './partition-point.js'

it('counts the items before a place in a sorted list', () => {
  fc.assert(
    fc.property(fc.array(fc.integer({ min: 0, max: 20 })), fc.integer({ min: -1, max: 21 }), (list, place) => {
      const sorted = list.toSorted((a, b) => a - b)
      expect(partitionPoint(sorted, (item) => item < place)).toBe(list.filter((item) => item < place).length)
    }),
  )
})
