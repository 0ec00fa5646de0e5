import { expect, it } from 'vitest'
import { stepsToPath } from './sparkline.tsx'

it('a sparkline draws steps from the left to the right, and nothing if the value stays the same', () => {
  const points = [5, 5, 7, 7, 5].map((y, x) => ({ x, y }))
  expect(stepsToPath(points)).toBe('M0 96H50V4H100V96')
  expect(stepsToPath([0, 1].map((x) => ({ x, y: 3 })))).toBe('M0 50H100')
})

it('a sparkline draws a value that is known once as a line', () => {
  expect(stepsToPath([{ x: 9, y: 3 }])).toBe('M0 50H100')
})

it('a sparkline has a gap where a value is not known', () => {
  const points = [5, null, null, 7, null].map((y, x) => ({ x, y }))
  expect(stepsToPath(points)).toBe('M0 96H25M75 4H100')
})
