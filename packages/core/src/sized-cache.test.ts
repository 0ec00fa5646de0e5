import fc from 'fast-check'
import { expect, it } from 'vitest'
import { SizedCache } from './sized-cache.js'

it('a SizedCache answers with the newest value of a key or with nothing, and never holds more than its capacity', () => {
  const CAPACITY = 1_600
  const largest = fc.constantFrom(undefined, 1, 100, CAPACITY / 2, CAPACITY)
  const step = fc.record({ key: fc.nat(30).map(String), size: fc.nat(120), isGet: fc.boolean() })
  fc.assert(
    fc.property(fc.array(step, { maxLength: 300 }), largest, (steps, largestEntry) => {
      const cache = new SizedCache<number>(CAPACITY, largestEntry)
      const newest = new Map<string, number>()
      expect(cache.capacity).toBe(CAPACITY)
      for (const [at, { key, size, isGet }] of steps.entries()) {
        if (isGet) {
          const found = cache.get(key)
          if (found !== undefined) expect(found).toBe(newest.get(key))
        } else {
          const wasKept = cache.get(key) !== undefined
          cache.set(key, at, size)
          newest.set(key, at)
          if (size > (largestEntry ?? CAPACITY / 16)) expect(cache.get(key)).toBeUndefined()
          else if (wasKept) expect(cache.get(key)).toBe(at)
        }
        expect(cache.size).toBeLessThanOrEqual(CAPACITY)
      }
      expect(cache.misses).toBe(steps.filter(({ isGet }) => !isGet).length)
    }),
  )
})

it('a SizedCache keeps used entries and evicts the others, by keys that come twice', () => {
  const cache = new SizedCache<string>(160)
  cache.set('used', 'value', 10)
  cache.set('unused', 'value', 10)
  for (let at = 0; at < 100; at++) {
    for (let time = 0; time < 2; time++) cache.set(`passing ${at}`, 'value', 10)
    expect(cache.get(`passing ${at}`)).toBe('value')
    expect(cache.get('used')).toBe('value')
  }
  expect(cache.get('unused')).toBeUndefined()
})

it('a SizedCache is not emptied by keys that come once, after it was filled', () => {
  const cache = new SizedCache<number>(160)
  for (let at = 0; at < 1_000; at++) cache.set(`passing ${at}`, at, 10)
  const kept = Array.from({ length: 1_000 }, (_, at) => cache.get(`passing ${at}`)).filter(
    (value) => value !== undefined,
  )
  expect(kept.slice(0, 8)).toEqual([0, 1, 2, 3, 4, 5, 6, 7])
  // Keys whose hashes collide count as known ones, and are kept the first time.
  expect(kept.length).toBeLessThan(12)
})

it('a SizedCache counts an entry that grows, and forgets one that has become too large', () => {
  const cache = new SizedCache<string>(160, 40)
  cache.set('grows', 'value', 10)
  cache.set('other', 'value', 10)
  cache.resize('grows', 30)
  cache.resize('absent', 30)
  expect([cache.get('grows'), cache.size]).toEqual(['value', 40])
  cache.resize('grows', 41)
  expect([cache.get('grows'), cache.get('other'), cache.size]).toEqual([undefined, 'value', 10])
  for (const key of ['a', 'b', 'c', 'd']) cache.set(key, 'value', 10)
  for (const key of ['a', 'b', 'c', 'd']) cache.resize(key, 40)
  expect(cache.size).toBeLessThanOrEqual(cache.capacity)
})

it('a SizedCache forgets the older value of a key that is set to one too large to keep', () => {
  const cache = new SizedCache<string>(160)
  cache.set('key', 'small', 1)
  cache.set('key', 'large', 11)
  expect(cache.get('key')).toBeUndefined()
  expect(cache.size).toBe(0)
})
