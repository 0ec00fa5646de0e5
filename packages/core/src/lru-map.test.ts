import { expect, it } from 'vitest'
import { LruMap } from './lru-map.js'

it('forgets what was not used for longest', () => {
  const map = new LruMap<string, number>(3)
  for (const [at, name] of ['a', 'b', 'c'].entries()) map.set(name, at)
  expect(map.get('a')).toBe(0)
  map.set('d', 3)
  expect([map.get('a'), map.get('b'), map.get('c'), map.get('d')]).toEqual([0, undefined, 2, 3])
  map.set('a', 9)
  map.set('e', 4)
  expect([map.get('a'), map.get('c')]).toEqual([9, undefined])
})
