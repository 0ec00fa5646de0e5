import fc from 'fast-check'
import { expect, it } from 'vitest'
import { SizedCache } from './sized-cache.js'

it('answers with the newest value of a key or with nothing, and never holds more than its capacity', () => {
  const CAPACITY = 1_600
  const largest = fc.constantFrom(undefined, 1, 100, CAPACITY / 2, CAPACITY)
  const step = fc.record({ key: fc.nat(30), size: fc.nat(120), isGet: fc.boolean() })
  fc.assert(
    fc.property(fc.array(step, { maxLength: 300 }), largest, (steps, largestEntry) => {
      const cache = new SizedCache<number, number>(CAPACITY, largestEntry)
      const newest = new Map<number, number>()
      for (const [at, { key, size, isGet }] of steps.entries()) {
        if (isGet) {
          const found = cache.get(key)
          if (found !== undefined) expect(found).toBe(newest.get(key))
        } else {
          cache.set(key, at, size)
          newest.set(key, at)
          expect(cache.get(key)).toBe(size <= (largestEntry ?? CAPACITY / 16) ? at : undefined)
        }
        expect(cache.size).toBeLessThanOrEqual(CAPACITY)
      }
    }),
  )
})

it('keeps what is used and evicts what is not', () => {
  const cache = new SizedCache<number, string>(160)
  cache.set(0, 'used', 10)
  cache.set(1, 'unused', 10)
  for (let key = 2; key < 100; key++) {
    cache.set(key, 'passing', 10)
    expect(cache.get(0)).toBe('used')
  }
  expect(cache.get(1)).toBeUndefined()
})

it('forgets the older value of a key that is set to one too large to keep', () => {
  const cache = new SizedCache<string, string>(160)
  cache.set('key', 'small', 1)
  cache.set('key', 'large', 11)
  expect(cache.get('key')).toBeUndefined()
  expect(cache.size).toBe(0)
})
