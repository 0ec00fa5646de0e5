import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { atOnce, type Write } from '@ledger-state/core'
import { createRandom, testSeed } from '@ledger-state/testing/random'
import { expect, it, vi } from 'vitest'
import { bytes, record } from '../../testing/small-records.ts'
import { temporaryFolder } from '../../testing/temporary-folder.ts'
import { KeyHash } from '../memtable/key-hash.js'
import { Segment, type SegmentCopy } from '../memtable/segment.js'
import type { SegmentRow } from '../records/segment-rows.js'
import { ObsoleteSegments } from '../segments/obsolete-segments.js'
import { segmentPath } from '../segments/segment-names.js'
import { payloadLength, putCommitInSteps } from '../wal/put-payload.js'
import { flushSegment } from './flush-segment.js'

const folder = temporaryFolder()

/** A part of the memtable with so many versions of 20 writes. */
function segmentOf(versions: number, first: number): Segment {
  const random = createRandom(testSeed())
  const hash = new KeyHash()
  const segment = new Segment(1, hash)
  const records = Array.from({ length: versions }, (_, at) => {
    const numbers = new Set(Array.from({ length: 20 }, () => random.below(20_000)))
    const writes = [...numbers].map((number): Write => {
      const value = random.below(9) === 0 ? null : random.bytes(random.below(80))
      return [bytes(`key ${number}`), value]
    })
    return record(first + at, writes, at)
  })
  const content = { number: 1, chainId: 4n, versions: records, mark: undefined, blockBefore: undefined }
  segment.reserve(payloadLength(content))
  segment.head = atOnce(putCommitInSteps(segment, hash, content, () => true))
  return segment
}

function copyOf(segment: Segment, spare?: ArrayBuffer): SegmentCopy {
  for (const steps = segment.copyInSteps(spare); ; ) {
    const { done, value } = steps.next()
    if (done) return value
  }
}

function flushed(segment: Segment, file: number): { readonly shares: number[]; readonly rows: readonly SegmentRow[] } {
  const shares: number[] = []
  for (const steps = flushSegment({ path: folder.path, segmentsId: 5n, isSynced: false }, segment, file); ; ) {
    const { done, value } = steps.next()
    if (done) return { shares, rows: value }
    shares.push(value)
  }
}

it('a part of the memtable is written in steps of less than a tenth of the work, so that commits never wait for more', () => {
  const { shares } = flushed(segmentOf(5_000, 0), 1)
  const steps = shares.map((share, at) => share - (shares[at - 1] ?? 0))
  expect(Math.min(...steps)).toBeGreaterThanOrEqual(0)
  expect(Math.max(...steps)).toBeLessThan(0.1)
  expect(shares.at(-1)).toBeCloseTo(1)
})

it('a copy for another thread becomes the same file, even in memory that was used before', () => {
  const large = copyOf(segmentOf(3_000, 0))
  for (const [at, versions] of [1_500, 1, 40].entries()) {
    const segment = segmentOf(versions, 7)
    const copy = copyOf(segment, at === 0 ? undefined : large.memory)
    if (at > 0) expect(copy.memory).toBe(large.memory)
    const ofCopy = flushed(Segment.ofCopy(structuredClone(copy)), 10)
    const ofSegment = flushed(segment, 20)
    expect(ofCopy.rows).toEqual(ofSegment.rows.map((row) => ({ ...row, file: row.file - 10 })))
    expect(readFileSync(segmentPath(folder.path, 10)).equals(readFileSync(segmentPath(folder.path, 20)))).toBe(true)
  }
})

it('a part is not written if a write would be missing, and leaves no file', () => {
  const segment = segmentOf(100, 0)
  const { entryCount } = segment
  vi.spyOn(segment, 'sortedHeads').mockReturnValue(segment.sortedHeads().slice(1))
  expect(() => flushed(segment, 60)).toThrow(
    new RegExp(`would have kept \\d+ of ${entryCount} writes, so it was undone; no commit is lost`),
  )
  expect(readdirSync(folder.path)).toEqual([])
})

it('an empty part has a copy, and no file', () => {
  const copy = copyOf(new Segment(3, new KeyHash()))
  expect(flushed(Segment.ofCopy(copy), 30)).toEqual({ shares: [], rows: [] })
})

it('files are removed off the event loop; those that cannot be removed stay for the next time', async () => {
  const obsolete = new ObsoleteSegments(folder.path)
  const [file, blocked] = [segmentPath(folder.path, 40), segmentPath(folder.path, 41)]
  writeFileSync(file, 'a segment')
  mkdirSync(blocked)
  writeFileSync(join(blocked, 'something'), '')
  const removed = obsolete.remove([40, 41])
  expect(readFileSync(file, 'utf8')).toBe('a segment')
  await removed
  expect(() => readFileSync(file)).toThrow('ENOENT')
  await expect(obsolete.removeLeft()).rejects.toMatchObject({ code: 'store_failed' })
})
