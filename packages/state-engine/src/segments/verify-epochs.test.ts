import { Buffer } from 'node:buffer'
import { statSync } from 'node:fs'
import { join } from 'node:path'
import { createRandom, type Random, testSeed } from '@ledger-state/testing/random'
import { scaledRounds } from '@ledger-state/testing/test-scale'
import { beforeEach, describe, expect, it } from 'vitest'
import { changeByte } from '../../testing/page-damage.ts'
import { type Model, makeModel, newestAtMost } from '../../testing/random-writes.ts'
import { openSegment, segmentProbe, writeSegment } from '../../testing/segment-files.ts'
import { temporaryFolder } from '../../testing/temporary-folder.ts'
import { SegmentMatch } from './block-search.ts'
import { PRESENT } from './found.ts'
import { ENVELOPE_LENGTH } from './lmdb-envelope.ts'
import type { SegmentReader } from './segment-reader.ts'
import { VerifyEpochs } from './verify-epochs.ts'

const folder = temporaryFolder()
const VERSIONS = 40

let random: Random
let model: Model
let path: string

beforeEach(() => {
  random = createRandom(testSeed())
  model = makeModel(random, { keys: 300, versions: VERSIONS, writes: 20, hasLong: false })
  path = join(folder.path, 'segment')
  writeSegment(path, model, 0, VERSIONS, { blockBytes: 1_000 })
})

const match = new SegmentMatch()
const probe = segmentProbe()

function newestValue(reader: SegmentReader, key: Uint8Array): Buffer | undefined {
  const found = reader.find(probe.take(key), VERSIONS, match)
  return found === PRESENT ? Buffer.from(match.bytes.subarray(match.start, match.end)) : undefined
}

function expectRight(reader: SegmentReader, key: Uint8Array): void {
  const expected = newestAtMost([...model.values()].find((one) => one.key === key)!.writes, VERSIONS)?.[1]
  expect(newestValue(reader, key)).toEqual(expected ? Buffer.from(expected) : undefined)
}

/** Changes a byte in each block of the file, which stays mapped. */
function damageBlocks(reader: SegmentReader): void {
  for (let block = 0; block < reader.index.count; block++) {
    changeByte(path, ENVELOPE_LENGTH + reader.index.placeOf(block) + 20, 0xff)
  }
}

describe('epochs that compare mapped blocks again', () => {
  it('find each write, however many copies there is room for', () => {
    const keys = [...model.values()].map(({ key }) => key)
    for (const copiesBytes of [0, 3_000, 20_000, statSync(path).size * 2]) {
      const epochs = new VerifyEpochs(copiesBytes)
      const reader = openSegment(path, true, 2 ** 20, epochs)
      for (let round = 0; round < scaledRounds(2_000); round++) {
        if (random.below(5) === 0) epochs.begin()
        expectRight(reader, random.pick(keys))
        expect(epochs.copies.usedBytes).toBeLessThanOrEqual(copiesBytes)
      }
      if (copiesBytes > 0) expect(epochs.copies.usedBytes).toBeGreaterThan(0)
      reader.close()
      expect(epochs.copies.usedBytes).toBe(0)
    }
  })

  it('read a block from its copy if the epochs before read it, whatever happens to the file', () => {
    const epochs = new VerifyEpochs()
    const reader = openSegment(path, true, 2 ** 20, epochs)
    const { key } = [...model.values()][0]!
    expectRight(reader, key)
    epochs.begin()
    expectRight(reader, key)
    damageBlocks(reader)
    for (let epoch = 0; epoch < 10; epoch++) {
      epochs.begin()
      expectRight(reader, key)
    }
    reader.close()
  })

  it('find damage of a block that was read long before', () => {
    const epochs = new VerifyEpochs()
    const reader = openSegment(path, true, 2 ** 20, epochs)
    const { key } = [...model.values()][0]!
    expectRight(reader, key)
    for (let epoch = 0; epoch < 10; epoch++) epochs.begin()
    expectRight(reader, key)
    damageBlocks(reader)
    epochs.begin()
    expect(() => newestValue(reader, key)).toThrow(expect.objectContaining({ code: 'store_corrupt' }))
    reader.close()
  })

  it('copy a bounded number of bytes each', () => {
    const epochs = new VerifyEpochs()
    epochs.begin()
    let copied = 0
    while (epochs.takesCopy(1, 8_192)) copied += 8_192
    expect(copied).toBe(2 ** 19)
    epochs.begin()
    expect(epochs.takesCopy(2, 8_192)).toBe(true)
    expect(epochs.takesCopy(2, 2 ** 20)).toBe(false)
  })
})
