import { expect, it } from 'vitest'
import { sortInSteps } from './sort-in-steps.js'

it('sorts in steps of a few hundred comparisons, and keeps the order of items that are equal', () => {
  for (const count of [0, 1, 63, 64, 65, 200, 5_000]) {
    const items = Array.from({ length: count }, (_, at) => ({ key: (at * 7_919) % 101, at }))
    let compared = 0
    let most = 0
    const steps = sortInSteps(items, (a, b) => {
      compared++
      return a.key - b.key
    })
    let step = steps.next()
    for (; !step.done; step = steps.next()) {
      most = Math.max(most, compared)
      compared = 0
    }
    expect(step.value).toEqual(items.toSorted((a, b) => a.key - b.key))
    expect(most).toBeLessThan(64 * 7)
  }
})
