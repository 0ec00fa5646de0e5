import { setImmediate } from 'node:timers/promises'
import { expect, it } from 'vitest'
import { CHUNK_BYTES, ChunkPool } from './chunk-pool.js'

it('a ChunkPool hands out returned chunks again, and frees all but 64 of them, a few in each turn', async () => {
  const pool = new ChunkPool()
  const chunks = Array.from({ length: 100 }, () => pool.take())
  expect(new Set(chunks.map(({ buffer }) => buffer)).size).toBe(100)
  for (const chunk of chunks) pool.give(chunk)
  const unused: number[] = [pool.unused]
  while (unused.at(-1)! > 64) {
    await setImmediate()
    unused.push(pool.unused)
  }
  expect(unused.length).toBeGreaterThan(5)
  expect(pool.unused).toBe(64)
  const again = Array.from({ length: 70 }, () => pool.take())
  expect(again.every(({ length }) => length === CHUNK_BYTES)).toBe(true)
  expect(again.filter((chunk) => chunks.includes(chunk))).toHaveLength(64)
  expect(pool.unused).toBe(0)
})
