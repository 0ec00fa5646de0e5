import { createRandom, testSeed } from '@ledger-state/testing/random'
import { expect, it } from 'vitest'
import { BlockCache, type CacheOwner } from './block-cache.ts'

it('a cache never exceeds its limit, and has the bytes that its owners expect', () => {
  const random = createRandom(testSeed())
  const cache = new BlockCache(10_000)
  const owners = [new Map<number, number>(), new Map<number, number>()]
  const told = owners.map((places): CacheOwner => ({ dropped: (block) => void places.delete(block) }))
  const contents = new Map<string, Uint8Array>()
  for (let step = 0; step < 20_000; step++) {
    const owner = random.below(2)
    const block = random.below(40)
    const place = owners[owner]!.get(block)
    const name = `${owner} ${block}`
    if (place === undefined) {
      const bytes = new Uint8Array(random.below(3) === 0 ? random.below(12_000) : random.below(900))
      const taken = cache.put(told[owner]!, block, bytes)
      expect(taken === undefined).toBe(bytes.length + 200 > 10_000)
      if (taken !== undefined) owners[owner]!.set(block, taken)
      contents.set(name, bytes)
    } else if (random.below(10) === 0) {
      cache.remove(place)
      owners[owner]!.delete(block)
    } else expect(cache.at(place)).toBe(contents.get(name))
    expect(cache.usedBytes).toBeLessThanOrEqual(10_000)
  }
  for (const places of owners) for (const place of places.values()) cache.remove(place)
  expect(cache.usedBytes).toBe(0)
})

it('used entries stay, and those that were read once leave', () => {
  const cache = new BlockCache(10 * 1_200)
  const dropped = new Set<number>()
  const owner: CacheOwner = { dropped: (block) => void dropped.add(block) }
  const used = cache.put(owner, 0, new Uint8Array(1_000))!
  for (let block = 1; block < 100; block++) {
    cache.at(used)
    cache.put(owner, block, new Uint8Array(1_000))
  }
  expect(dropped.has(0)).toBe(false)
  expect(dropped.size).toBe(90)
})
