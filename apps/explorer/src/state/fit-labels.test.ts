import fc from 'fast-check'
import { expect, it } from 'vitest'
import { fitLabels } from './fit-labels.ts'

const CHARACTER = 7.5

it('labels never touch each other and never leave the axis, and the first one is always there', () => {
  const label = fc.record({
    place: fc.double({ min: 0, max: 1, noNaN: true }),
    text: fc.stringMatching(/^[\d:-]{1,10}$/),
  })
  fc.assert(
    fc.property(fc.array(label, { maxLength: 12 }), fc.integer({ min: 200, max: 1_200 }), (labels, width) => {
      const sorted = labels.toSorted((a, b) => a.place - b.place)
      const fitted = fitLabels(sorted, width)
      expect(fitted.length > 0).toBe(sorted.length > 0)
      let end = 0
      for (const { place, text, alignment } of fitted) {
        const length = text.length * CHARACTER
        const left = place * width - (alignment === 'first' ? 0 : alignment === 'last' ? length : length / 2)
        expect(left).toBeGreaterThanOrEqual(end)
        end = left + length
        expect(end).toBeLessThanOrEqual(width + 1)
      }
    }),
  )
})
