import { Buffer } from 'node:buffer'
import { renameSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { segmentProbe, writeSegment } from '../../testing/segment-files.ts'
import { temporaryFolder } from '../../testing/temporary-folder.ts'
import { BlockCache } from './block-cache.ts'
import { SegmentMatch } from './block-search.ts'
import { PRESENT } from './found.ts'
import { SegmentReader } from './segment-reader.ts'

const folder = temporaryFolder()
const KEY = Buffer.from('a key')

/** Writes a file whose only key has a value of these letters. */
function writeValue(name: string, value: string): string {
  const path = join(folder.path, name)
  writeSegment(path, new Map([['a key', { key: KEY, writes: [[0, Buffer.from(value)]] }]]), 0, 9)
  return path
}

function openFile(path: string, { bytesLeft = 2 ** 20, mapsAtOnce = false } = {}): SegmentReader {
  const cache = new BlockCache(2 ** 20)
  return new SegmentReader(path, { cache, isMapped: true, mapsAtOnce, indexMemory: { bytesLeft } })
}

function valueIn(reader: SegmentReader): string {
  const match = new SegmentMatch()
  expect(reader.find(segmentProbe().take(KEY), 5, match)).toBe(PRESENT)
  return Buffer.from(match.bytes.subarray(match.start, match.end)).toString()
}

it('a file is mapped when a block of it is read first', () => {
  const reader = openFile(writeValue('segment', 'value'))
  reader.mayHave(segmentProbe().take(KEY))
  expect(reader.map).toBe(undefined)
  for (let times = 0; times < 2; times++) {
    expect(valueIn(reader)).toBe('value')
    expect(reader.map?.length).toBe(reader.file.length)
  }
  reader.close()
  expect(reader.map).toBe(undefined)
})

it.each([
  ['is opened by a reader', { mapsAtOnce: true }],
  ['has an index for which there is no room in memory', { bytesLeft: 0 }],
])('a file that %s is mapped at once', (_, options) => {
  const reader = openFile(writeValue('segment', 'value'), options)
  expect(reader.map?.length).toBe(reader.file.length)
  expect(valueIn(reader)).toBe('value')
  reader.close()
})

it('a file that is removed, or replaced by another one, before a block of it is read is read as it was', () => {
  const path = writeValue('segment', 'value')
  const [replaced, removed] = [openFile(path), openFile(path)]
  renameSync(writeValue('other', 'VALUE'), path)
  expect(valueIn(replaced)).toBe('value')
  rmSync(path)
  expect(valueIn(removed)).toBe('value')
  for (const reader of [replaced, removed]) {
    expect(reader.map).toBe(undefined)
    reader.close()
  }
})
