import { expect, it } from 'vitest'
import { LruMap } from './lru-map.js'

it('keeps what is used and forgets the rest within two generations', () => {
  const map = new LruMap<number, number>(10)
  map.set(-1, 7)
  for (let at = 0; at < 100; at++) {
    map.set(at, at)
    expect(map.get(-1)).toBe(7)
  }
  expect(map.get(99)).toBe(99)
  expect(map.get(50)).toBeUndefined()
})

it('answers with the value set last, in whatever generation', () => {
  const map = new LruMap<string, number>(2)
  map.set('a', 1)
  map.set('b', 2)
  map.set('a', 3)
  expect([map.get('a'), map.get('b'), map.get('c')]).toEqual([3, 2, undefined])
})
