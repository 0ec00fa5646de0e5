import { Buffer } from 'node:buffer'
import { copyFileSync, statSync, truncateSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { isLedgerStateError } from '@ledger-state/core'
import { createRandom, type Random, testSeed } from '@ledger-state/testing/random'
import { isSlowRun } from '@ledger-state/testing/slow-run'
import { scaledRounds } from '@ledger-state/testing/test-scale'
import { beforeEach, describe, expect, it } from 'vitest'
import { changeByte } from '../../testing/page-damage.ts'
import { type Model, makeModel, newestAtMost, sortedModel } from '../../testing/random-writes.ts'
import { FIRST_VERSION, identityOf, openSegment, segmentProbe, writeSegment } from '../../testing/segment-files.ts'
import { temporaryFolder } from '../../testing/temporary-folder.ts'
import { SegmentMatch } from './block-search.ts'
import { checkSegment } from './check-segment.ts'
import { PRESENT } from './found.ts'
import { mergeSegments } from './merge-segments.ts'
import { openBlock } from './segment-blocks.ts'
import { SegmentKeys } from './segment-keys.ts'
import { SegmentLists } from './segment-lists.ts'
import type { SegmentReader } from './segment-reader.ts'
import { SegmentWriter, type SegmentWriterOptions } from './segment-writer.ts'

const folder = temporaryFolder()
const FLIPS = isSlowRun ? scaledRounds(3_000) : 150
const VERSIONS = 200
const KINDS: readonly (readonly [string, SegmentWriterOptions])[] = [
  ['as they are', { blockBytes: 1_000 }],
  ['deflated', { codec: 'deflate', blockBytes: 2_000 }],
]

let model: Model
let path: string
let random: Random

beforeEach(() => {
  random = createRandom(testSeed())
  model = makeModel(random, { keys: 60, versions: VERSIONS, writes: 4, hasLong: false })
  path = join(folder.path, 'sound')
})

/** Reads everything. Whatever is answered must be right. */
function readAll(reader: SegmentReader): void {
  const match = new SegmentMatch()
  const probe = segmentProbe()
  for (const { key, writes } of model.values()) {
    for (const version of [0, random.below(VERSIONS), VERSIONS]) {
      const found = reader.find(probe.take(key), version, match)
      const expected = newestAtMost(writes, version)
      const value = found === PRESENT ? match.bytes.subarray(match.start, match.end) : null
      const isRight = expected?.[1] ? value !== null && Buffer.compare(value, expected[1]) === 0 : value === null
      expect(isRight).toBe(true)
    }
  }
  const keys = new SegmentKeys(reader)
  keys.seek(Buffer.of())
  for (const { key } of sortedModel(model)) {
    expect(Buffer.compare(keys.key!, key)).toBe(0)
    keys.next()
  }
  const lists = new SegmentLists(reader)
  for (let list = 0; list < lists.count; list++) for (const _ of lists.at(list));
  const writer = new SegmentWriter(join(folder.path, 'merged'), identityOf(VERSIONS), { isDurable: false })
  try {
    const inputs = [{ reader, until: reader.identity.lastVersion }]
    for (const _ of mergeSegments(inputs, writer, { firstVersion: FIRST_VERSION }));
  } finally {
    writer.abort()
  }
}

/** Does something with a file. Returns the message of the damage that was found. */
function faultOf(file: string, isMapped: boolean, work: (reader: SegmentReader) => void): string | undefined {
  let reader: SegmentReader | undefined
  try {
    reader = openSegment(file, isMapped)
    work(reader)
    return undefined
  } catch (error) {
    if (!isLedgerStateError(error, 'store_corrupt')) throw error
    expect(error.message).toMatch(/: the file|: \S+ at byte \d+: /)
    return error.message
  } finally {
    reader?.close()
  }
}

function check(reader: SegmentReader): void {
  for (const _ of checkSegment(reader, segmentProbe()));
}

describe.each(KINDS)('a file whose blocks are stored %s', (_, options) => {
  it.each([
    ['mapped', true],
    ['with a cache', false],
  ])('never answers wrong with a byte flipped, and the check finds each, %s', (_way, isMapped) => {
    writeSegment(path, model, 0, VERSIONS - 1, options)
    const { size } = statSync(path)
    expect(faultOf(path, isMapped, readAll)).toBe(undefined)
    expect(faultOf(path, isMapped, check)).toBe(undefined)
    for (let flip = 0; flip < FLIPS; flip++) {
      const file = join(folder.path, `flipped-${flip}`)
      copyFileSync(path, file)
      // Half of them behind the blocks.
      const offset = random.below(2) === 0 ? random.below(size) : size - 1 - random.below(8_000)
      changeByte(file, offset, 1 << random.below(8))
      faultOf(file, isMapped, readAll)
      expect(faultOf(file, isMapped, check), `byte ${offset}, seed ${testSeed()}`).toContain(file)
    }
  })

  it('is refused when it is cut short, or has more bytes', () => {
    writeSegment(path, model, 0, VERSIONS - 1, options)
    const { size } = statSync(path)
    for (const length of [0, 1, 4_096, 12_311, 12_312, 12_500, size - 4_096, size - 1]) {
      const file = join(folder.path, `cut-${length}`)
      copyFileSync(path, file)
      truncateSync(file, length)
      expect(faultOf(file, true, check), `${length} bytes`).toContain(file)
    }
    const longer = join(folder.path, 'longer')
    copyFileSync(path, longer)
    writeFileSync(longer, Buffer.alloc(4_096), { flag: 'a' })
    expect(faultOf(longer, true, check)).toContain(`the file has ${size + 4_096} of ${size} bytes`)
  })

  it('that is cut while it is open says so where it ends, with a cache', () => {
    writeSegment(path, model, 0, VERSIONS - 1, options)
    const message = faultOf(path, false, (reader) => {
      truncateSync(path, 13_000)
      readAll(reader)
    })
    expect(message).toContain(`${path} at byte`)
    expect(message).toContain('the file is cut short')
  })
})

it('a block of another file, or in another place, does not match its checksum', () => {
  const options = { blockBytes: 400 }
  writeSegment(path, model, 0, VERSIONS - 1, options)
  const other = join(folder.path, 'other')
  writeSegment(other, model, 0, VERSIONS - 1, { ...options, identity: identityOf(VERSIONS, { storeId: 8n }) })
  const [ours, theirs] = [openSegment(path, true), openSegment(other, true)]
  const block = new Uint8Array(ours.index.placeOf(1) - ours.index.placeOf(0))
  theirs.file.read(block, theirs.index.placeOf(0))
  expect(() => openBlock(ours.file, ours.index.placeOf(0), block)).toThrow('does not match its checksum')
  ours.file.read(block, ours.index.placeOf(0))
  expect(() => openBlock(ours.file, ours.index.placeOf(1), block)).toThrow('does not match its checksum')
  expect(openBlock(ours.file, ours.index.placeOf(0), block).length).toBeGreaterThan(0)
  for (const one of [ours, theirs]) one.close()
})
