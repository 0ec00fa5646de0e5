import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { copyBytes } from '@ledger-state/core/bytes'
import { MAX_VALUE_LENGTH } from '@ledger-state/engine'
import { MAX_ANNOTATION_LENGTH } from '@ledger-state/engine/authoring'
import { createRandom, testSeed } from '@ledger-state/testing/random'
import { scaledRounds } from '@ledger-state/testing/test-scale'
import { beforeAll, describe, expect, it } from 'vitest'
import { makeModel, sortedModel } from '../../testing/random-writes.ts'
import { openSegment, segmentProbe, writeSegment } from '../../testing/segment-files.ts'
import { folderForAll } from '../../testing/temporary-folder.ts'
import { checksum } from '../bytes/checksum.ts'
import { valueOperation } from './block-layout.ts'
import { SegmentMatch } from './block-search.ts'
import { ByteOutput } from './byte-output.ts'
import { faultOfContent } from './check-content.ts'
import { EntryReader } from './entry-reader.ts'
import { BLOCK_HEAD_LENGTH, blockSeed } from './format.ts'
import { ENVELOPE_LENGTH } from './lmdb-envelope.ts'
import { openBlock } from './segment-blocks.ts'
import { SegmentCursor } from './segment-cursor.ts'

const folder = folderForAll()
const SEED = testSeed()
const VERSIONS = 200
let contents: Uint8Array[]
let keys: Uint8Array[]

beforeAll(() => {
  const model = makeModel(createRandom(SEED), { keys: 60, versions: VERSIONS, writes: 6, hasLong: false })
  keys = sortedModel(model).map(({ key }) => key)
  contents = [2_000, 500].flatMap((blockBytes) => {
    const path = join(folder.path, `blocks of ${blockBytes}`)
    writeSegment(path, model, 0, VERSIONS - 1, { blockBytes })
    const reader = openSegment(path, false)
    const { index, file } = reader
    const read = Array.from({ length: index.count }, (_, block) => {
      const bytes = new Uint8Array(index.placeOf(block + 1) - index.placeOf(block))
      file.read(bytes, index.placeOf(block))
      return copyBytes(openBlock(file, index.placeOf(block), bytes))
    })
    reader.close()
    return read
  })
})

/** Reads all entries of a content, and looks up every key. */
function readAll(content: Uint8Array): void {
  const entry = new EntryReader()
  const count = content[2]!
  entry.next = 4 + (1 + content[1]!) * count
  for (let at = 0; at < count; at++) {
    const length = entry.readVarint(content) - 1
    entry.read(content, entry.next + Math.max(0, length))
    for (let write = 0; write < entry.count; write++) {
      if (entry.ends[write]! >= 0) expect(entry.ends[write]).toBeLessThanOrEqual(entry.bytes.length)
    }
  }
  const match = new SegmentMatch()
  const probe = segmentProbe()
  for (const key of keys) match.findIn(content, 0, probe.take(key), VERSIONS)
}

describe(`the content of a block (TEST_SEED=${SEED})`, () => {
  it('has no fault as it was written', () => {
    expect(contents.length).toBeGreaterThan(4)
    for (const content of contents) expect(faultOfContent(content)).toBe(undefined)
  })

  it('is refused, or can be read to its end, whatever its bytes are', () => {
    const random = createRandom(SEED)
    let refused = 0
    const rounds = scaledRounds(20_000)
    for (let round = 0; round < rounds; round++) {
      const content = copyBytes(random.pick(contents))
      for (let change = 0; change <= random.below(3); change++) {
        content[random.below(content.length)] = random.pick([0, 1, 127, 128, 255, random.below(256)])
      }
      const cut = random.below(8) === 0 ? content.subarray(0, random.below(content.length)) : content
      if (faultOfContent(cut) === undefined) readAll(cut)
      else refused++
    }
    expect(refused).toBeGreaterThan(rounds / 10)
    expect(refused).toBeLessThan(rounds)
  })

  it('is refused with a length that would take all memory, or all time', () => {
    // One entry of the key 01 with one write: version 0, an operation, and its bytes.
    const block = (operation: readonly number[], body: readonly number[] = [], key = [2, 1]) => {
      const entry = [...key, 1, 0, ...operation, ...body]
      return Uint8Array.from([0, 2, 1, 0, 7, entry.length, 0, ...entry])
    }
    expect(faultOfContent(block([3], [9]))).toBe(undefined)
    const huge = [255, 255, 255, 255, 255, 255, 15]
    expect(faultOfContent(block(huge))).toBe('a value of a block ends outside')
    expect(faultOfContent(block(new Array(30).fill(255)))).toBe('a length of a block ends outside')
    expect(faultOfContent(block([3], [9], [...huge, 1]))).toBe('a key of a block is too long')
    expect(faultOfContent(block([4], [0]))).toBe('a patch of a block has no value before it')
    expect(faultOfContent(block([3], [9], [0]))).toBe('a key of a block is too long')
    expect(faultOfContent(block([3], [9, 9]))).toBe('an entry of a block is longer than its parts')
    expect(faultOfContent(Uint8Array.of(0, 3, 1, 0))).toBe('ends of entries have 3 bytes')
  })
})

it('a value of a content may be as long as the longest value with the longest annotation', () => {
  /** One entry of the key 01 with one write: version 0, a whole value, and a deletion after it. */
  const block = (valueLength: number) => {
    const entry = new ByteOutput()
    for (const number of [2, 1, 2, 0, 1, valueOperation(valueLength), 0]) entry.varint(number)
    const ends = Buffer.alloc(4)
    ends.writeUInt32LE(entry.length + valueLength)
    const head = Buffer.from([0, 4, 1, 0, 7, ...ends, ...entry.bytes.subarray(0, entry.length)])
    return Buffer.concat([head, Buffer.alloc(valueLength)])
  }
  const most = MAX_VALUE_LENGTH + MAX_ANNOTATION_LENGTH + 1
  expect(faultOfContent(block(most))).toBe(undefined)
  expect(faultOfContent(block(most + 1))).toBe('a value of a block is too long')
})

it('a file of somebody else, with right checksums and a wrong length, is damaged for checks and joins', () => {
  const path = join(folder.path, 'forged')
  writeSegment(path, makeModel(createRandom(SEED), { keys: 3, versions: 9, writes: 1, hasLong: false }), 0, 8)
  const sound = openSegment(path, false)
  const [{ seed }, start, end] = [sound.file, sound.index.placeOf(0), sound.index.placeOf(1)]
  sound.close()
  const file = readFileSync(path)
  const block = new Uint8Array(file.buffer, file.byteOffset + ENVELOPE_LENGTH + start, end - start)
  // The end of the last entry is one byte less than it was.
  const count = block[BLOCK_HEAD_LENGTH + 2]!
  block[BLOCK_HEAD_LENGTH + 4 + count + 2 * (count - 1)]! -= 1
  new DataView(block.buffer, block.byteOffset).setUint32(
    0,
    checksum(block, 4, block.length, blockSeed(seed, start)),
    true,
  )
  writeFileSync(path, file)
  const forged = openSegment(path, false)
  const cursor = new SegmentCursor(forged, { checksContent: true })
  expect(() => cursor.next()).toThrow(
    expect.objectContaining({ code: 'store_corrupt', message: expect.stringContaining(`${path} at byte`) }),
  )
  forged.close()
})
