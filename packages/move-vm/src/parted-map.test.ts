import { createRandom, testSeed } from '@ledger-state/testing/random'
import { expect, it } from 'vitest'
import { PartedMap } from './parted-map.js'

it('answers as a Map does, however many parts it has', () => {
  const seed = testSeed()
  const random = createRandom(seed)
  const map = new PartedMap<string, number>()
  const oracle = new Map<string, number>()
  for (let left = 100_000; left > 0; left--) {
    const key = `k${random.below(200_000)}`
    if (map.get(key) !== oracle.get(key)) expect.fail(`TEST_SEED=${seed}, ${key}`)
    if (random.below(2) === 0 && oracle.has(key)) continue
    const isRemoved = random.below(20) === 0
    if (isRemoved) map.delete(key)
    else map.set(key, left)
    if (isRemoved) oracle.delete(key)
    else oracle.set(key, left)
  }
  expect(map.size).toBe(oracle.size)
  expect(oracle.size).toBeGreaterThan(70_000)
  for (const [key, value] of oracle) if (map.get(key) !== value) expect.fail(`TEST_SEED=${seed}, ${key}`)
})
