import fc from 'fast-check'
import { expect, it } from 'vitest'
import { SortedMap } from './sorted-map.js'

const text = fc.string({ unit: fc.constantFrom('a', 'b', 'c'), maxLength: 4 })
const step = fc.oneof(
  fc.record({ kind: fc.constant('set' as const), key: text }),
  fc.record({ kind: fc.constant('delete' as const), key: text }),
  fc.record({ kind: fc.constant('list' as const), first: text, prefix: text }),
)

it('a map lists the keys that a sorted set of the same keys has, whatever came and went between two lists', () => {
  fc.assert(
    fc.property(fc.array(step, { maxLength: 60 }), (steps) => {
      const map = new SortedMap<number>()
      const model = new Set<string>()
      for (const [at, one] of steps.entries()) {
        if (one.kind === 'set') {
          map.set(one.key, at)
          model.add(one.key)
        } else if (one.kind === 'delete') {
          expect(map.delete(one.key)).toBe(model.delete(one.key))
        } else {
          const sorted = [...model].sort()
          const { first, prefix } = one
          expect([...map.keysFrom(first, prefix)]).toEqual(
            sorted.filter((key) => key >= first && key.startsWith(prefix)),
          )
          expect(map.sortedKeys()).toEqual(sorted)
        }
      }
    }),
  )
})

it('a list of keys stays as it is while keys come and go', () => {
  const map = new SortedMap<number>()
  for (const key of ['b', 'd', 'a']) map.set(key, 0)
  const seen: string[] = []
  for (const key of map.keysFrom('', '')) {
    seen.push(key)
    map.delete('b')
    map.set('c', 0)
    map.sortedKeys()
  }
  expect(seen).toEqual(['a', 'b', 'd'])
})
