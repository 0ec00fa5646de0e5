import { Buffer } from 'node:buffer'
import fs, { renameSync, rmSync } from 'node:fs'
import { syncBuiltinESMExports } from 'node:module'
import { join } from 'node:path'
import { storeFailed } from '@ledger-state/engine/authoring'
import { describe, expect, it, vi } from 'vitest'
import { segmentProbe, writeSegment } from '../../testing/segment-files.ts'
import { temporaryFolder } from '../../testing/temporary-folder.ts'
import { BlockCache } from './block-cache.ts'
import { SegmentMatch } from './block-search.ts'
import { PRESENT } from './found.ts'
import { SegmentMap } from './segment-map.ts'
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

describe('a file that cannot be mapped', () => {
  /** An open file for which each try to map it ends with the next error; undefined for none. */
  function failingFile(errors: Iterator<Error | undefined>) {
    const reader = openFile(writeValue('failing', 'value'))
    const { path, length } = reader.file
    reader.close()
    let tries = 0
    const isInPlace = (): boolean => {
      tries++
      const { value } = errors.next()
      if (value) throw value
      return true
    }
    return { map: new SegmentMap({ path, length, isInPlace }), tries: () => tries }
  }

  function* always(error: Error): Generator<Error> {
    for (;;) yield error
  }

  const noDescriptors = Object.assign(new Error('EMFILE: too many open files'), { code: 'EMFILE', syscall: 'open' })
  const noAddressSpace = storeFailed('it needs more address space', undefined)

  it.each([noDescriptors, noAddressSpace])('for a moment is mapped after some reads: %s', (error) => {
    const { map, tries } = failingFile([error, error][Symbol.iterator]())
    let reads = 0
    while (!map.take()) expect(++reads).toBeLessThan(1_000)
    expect([tries(), reads]).toEqual([3, 64 + 128 + 2])
    expect(map.bytes?.length).toBeGreaterThan(0)
    map.close()
    expect(map.take()).toBe(undefined)
  })

  it('is tried rarely', () => {
    const { map, tries } = failingFile(always(noDescriptors))
    for (let reads = 0; reads < 1_000_000; reads++) map.take()
    expect(tries()).toBeLessThan(30)
  })

  it('by LMDB is not tried again', () => {
    const { map, tries } = failingFile(always(Object.assign(new Error('MDB_PROBLEM'), { code: -30_779 })))
    for (let reads = 0; reads < 100_000; reads++) map.take()
    expect(tries()).toBe(1)
  })
})

it('a file that could not be mapped is read without a cache, and mapped later', () => {
  const path = writeValue('segment', 'value')
  const cache = new BlockCache(0)
  vi.spyOn(fs, 'linkSync').mockImplementationOnce(() => {
    throw Object.assign(new Error('EMFILE: too many open files'), { code: 'EMFILE', syscall: 'link' })
  })
  syncBuiltinESMExports()
  const reader = new SegmentReader(path, { cache, isMapped: true, mapsAtOnce: true })
  vi.restoreAllMocks()
  syncBuiltinESMExports()
  expect(reader.map).toBe(undefined)
  for (let reads = 0; !reader.map; reads++) {
    expect(valueIn(reader)).toBe('value')
    expect(reads).toBeLessThan(1_000)
  }
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
