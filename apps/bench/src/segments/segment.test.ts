import { createRandom, testSeed } from '@ledger-state/testing/random'
import { expect, it } from 'vitest'
import { encodeSegment, lookUp, mergedWrites, type Segment, segmentWrites } from './segment.ts'
import type { SegmentWrite } from './segment-block.ts'

const SEED = testSeed()

it(`segments and what they are merged into have the writes that they were made of, and find each (TEST_SEED=${SEED})`, () => {
  const random = createRandom(SEED)
  const byKey = new Map<string, SegmentWrite[]>()
  const segments: Segment[] = []
  let version = 1_000
  for (let part = 0; part < 5; part++) {
    const firstVersion = version
    const own: SegmentWrite[] = []
    for (let left = 300; left > 0; left--, version += 1 + random.below(3)) {
      const key = Buffer.from(`key of ${random.below(40)} ${'and more '.repeat(random.below(2))}`)
      const written = byKey.get(key.toString()) ?? []
      byKey.set(key.toString(), written)
      const write = { key, version, value: nextValue(written.at(-1)?.value) }
      written.push(write)
      own.push(write)
    }
    segments.push(encodeSegment(inOrder(own), firstVersion))
    expect([...segmentWrites(segments.at(-1)!)]).toEqual(inOrder(own))
  }
  const all = inOrder([...byKey.values()].flat())
  expect([...mergedWrites(segments)]).toEqual(all)
  const whole = encodeSegment(mergedWrites(segments), 1_000)
  expect(whole.writes).toBe(1_500)
  for (const [key, writes] of byKey) {
    for (const { version } of writes) {
      for (const asked of [version - 1, version, version + 1]) {
        const expected = writes.findLast((write) => write.version <= asked)
        expect(lookUp(whole, Buffer.from(key), asked)).toEqual(expected)
      }
    }
  }

  function nextValue(before: Buffer | undefined): Buffer | undefined {
    if (random.below(12) === 0) return undefined
    if (!before || random.below(4) === 0) return Buffer.from(random.bytes(random.below(300)))
    const value = Buffer.from(before)
    for (let left = random.below(6); left > 0 && value.length > 0; left--)
      value[random.below(value.length)] = random.below(256)
    return value
  }
})

function inOrder(writes: readonly SegmentWrite[]): SegmentWrite[] {
  return [...writes].sort((a, b) => a.key.compare(b.key) || a.version - b.version)
}
