import fc from 'fast-check'
import { expect, it } from 'vitest'
import { firstHeld } from './first-held.js'

it('finds the first version that a node holds, in as many questions as its number has binary digits', async () => {
  await fc.assert(
    fc.asyncProperty(fc.bigInt(0n, 2n ** 33n), fc.bigInt(0n, 2n ** 33n), async (count, first) => {
      let questions = 0
      const found = await firstHeld(count, async (at) => {
        questions++
        expect(at).toBeLessThan(count)
        return at >= first
      })
      expect(found).toBe(first < count ? first : count)
      expect(questions).toBeLessThanOrEqual(first === 0n ? 1 : count.toString(2).length + 1)
    }),
  )
})
