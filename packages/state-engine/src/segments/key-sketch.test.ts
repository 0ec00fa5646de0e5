import { createRandom } from '@ledger-state/testing/random'
import { expect, it } from 'vitest'
import { countKeys, encodeSketch, SKETCH_HASHES } from './key-sketch.ts'

/** Hashes of `count` keys, as two words each. */
function randomHashes(count: number): Int32Array {
  const bytes = createRandom(count + 1).bytes(8 * count)
  return new Int32Array(bytes.buffer.slice(bytes.byteOffset, bytes.byteOffset + bytes.length))
}

/** Sketch of the keys from one to another. */
function sketchOf(hashes: Int32Array, first: number, end: number): Float64Array {
  return new Float64Array(encodeSketch(hashes.slice(2 * first, 2 * end), end - first).buffer)
}

it.each([0, 1, 50, SKETCH_HASHES - 1])('counts %i keys exactly, in any files', (count) => {
  const hashes = randomHashes(count)
  const half = count >> 1
  const parts = [sketchOf(hashes, 0, count), sketchOf(hashes, 0, half), sketchOf(hashes, half, count)]
  expect(countKeys(parts.slice(0, 1))).toBe(count)
  expect(countKeys(parts.slice(1))).toBe(count)
  expect(countKeys(parts)).toBe(count)
  expect(countKeys([])).toBe(0)
})

it.each([SKETCH_HASHES + 1, 5_000, 300_000])(
  'estimates %i keys within a tenth, however often they are in files',
  (count) => {
    const hashes = randomHashes(count)
    const whole = sketchOf(hashes, 0, count)
    expect(whole).toHaveLength(SKETCH_HASHES)
    const third = Math.floor(count / 3)
    const parts = [whole, sketchOf(hashes, 0, 2 * third), sketchOf(hashes, third, count), sketchOf(hashes, 5, 6)]
    for (const sketches of [[whole], parts, parts.slice(1)]) {
      expect(countKeys(sketches)).toBeGreaterThan(0.9 * count)
      expect(countKeys(sketches)).toBeLessThan(1.1 * count)
    }
  },
)

it('keeps the smallest hashes, even if most are large', () => {
  const hashes = new Int32Array(20_000).fill(-1)
  for (let at = 0; at < 20_000; at += 2) hashes[at + 1] = at << 13
  const sketch = new Float64Array(encodeSketch(hashes, 10_000).buffer)
  expect(sketch).toHaveLength(SKETCH_HASHES)
  expect(sketch).toEqual(sketch.toSorted())
})
