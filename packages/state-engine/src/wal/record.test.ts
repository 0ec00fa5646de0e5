import { Buffer } from 'node:buffer'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import {
  decodeFileHeader,
  encodeFileHeader,
  encodeSyncMark,
  expectFileHeader,
  FILE_HEADER_LENGTH,
  readSyncMarks,
  recordSeed,
  syncMarkOffset,
} from './file-header.js'
import { findLaterRecord, hasWholePayload, putRecordHeader, RECORD_HEADER_LENGTH, readRecordHeader } from './record.js'

const BEFORE = { length: 70_000, nextCommit: 2 ** 40 + 7, checksum: 0x89ab_cdef }
const HEADER = { storeId: 0xfedc_ba98_7654_3210n, fileNumber: 5, firstCommit: 2 ** 40 + 7, before: BEFORE }
const SEED = recordSeed(HEADER.storeId, HEADER.fileNumber)

/** Makes successive records. Each says that the file is synced up to its own beginning. */
function records(payloads: readonly Uint8Array[], firstNumber = 10) {
  const starts: number[] = []
  let bytes = Buffer.alloc(0)
  let before = 0
  for (const [at, payload] of payloads.entries()) {
    const start = bytes.length
    starts.push(start)
    bytes = Buffer.concat([bytes, Buffer.alloc(RECORD_HEADER_LENGTH), payload])
    before = putRecordHeader(bytes, start, bytes.length, { number: firstNumber + at, synced: start, before }, SEED)
  }
  return { bytes, starts }
}

describe('the header of a WAL file', () => {
  it('is read back, and no part or change of it passes for one', () => {
    const bytes = encodeFileHeader(HEADER)
    expect(bytes).toHaveLength(FILE_HEADER_LENGTH)
    expect(decodeFileHeader(bytes)).toEqual(HEADER)
    expect(decodeFileHeader(bytes.subarray(0, FILE_HEADER_LENGTH - 1))).toBeUndefined()
    for (let at = 0; at < 56; at++) {
      expect(decodeFileHeader(bytes.subarray(0, at))).toBeUndefined()
      const changed = Buffer.from(bytes)
      changed[at]! ^= 1 << (at % 8)
      expect(decodeFileHeader(changed)).toBeUndefined()
      expect(() => expectFileHeader(changed, 'write-ahead-5', HEADER)).toThrow(/write-ahead-5 at byte 0: its header/)
    }
  })

  it('names its store, file and commit', () => {
    const bytes = encodeFileHeader(HEADER)
    const expectRefused = (expected: object, message: RegExp) =>
      expect(() => expectFileHeader(bytes, 'f', { ...HEADER, ...expected })).toThrow(message)
    expectFileHeader(bytes, 'f', HEADER)
    expectRefused({ storeId: 1n }, /belongs to another store/)
    expectRefused({ fileNumber: 6 }, /fileNumber 5, expected 6/)
    expectRefused({ firstCommit: 1 }, /firstCommit 1099511627783, expected 1/)
  })
})

describe('the sync marks of a WAL file', () => {
  it('are read, the greatest length first, without those with a wrong bit', () => {
    const bytes = encodeFileHeader(HEADER)
    expect(readSyncMarks(bytes, SEED)).toEqual([])
    const older = { length: 5_000, nextCommit: 11, checksum: 1, bootId: 2n ** 63n }
    const newer = { length: 6_000, nextCommit: 12, checksum: 2, bootId: undefined }
    encodeSyncMark(older, SEED).copy(bytes, syncMarkOffset(1))
    encodeSyncMark(newer, SEED).copy(bytes, syncMarkOffset(2))
    expect(readSyncMarks(bytes, SEED)).toEqual([
      { ...newer, place: 0 },
      { ...older, place: 1 },
    ])
    expect(decodeFileHeader(bytes)).toEqual(HEADER)
    for (let at = 0; at < 32; at++) {
      const changed = Buffer.from(bytes)
      changed[syncMarkOffset(2) + at]! ^= 1 << (at % 8)
      expect(readSyncMarks(changed, SEED)).toEqual([{ ...older, place: 1 }])
    }
    expect(readSyncMarks(bytes, SEED ^ 1)).toEqual([])
  })
})

describe('a record of a WAL file', () => {
  const PAYLOADS = fc.array(fc.uint8Array({ minLength: 1, maxLength: 300 }), { minLength: 1, maxLength: 6 })

  it('is read back, and no part or change of it passes for one', () => {
    const property = fc.property(PAYLOADS, fc.nat(), fc.nat(7), (payloads, place, bit) => {
      const { bytes, starts } = records(payloads)
      for (const [at, start] of starts.entries()) {
        const end = start + RECORD_HEADER_LENGTH + payloads[at]!.length
        const header = readRecordHeader(bytes, start, bytes.length, SEED)!
        expect(header).toMatchObject({ number: 10 + at, payloadLength: payloads[at]!.length, synced: start })
        expect(hasWholePayload(bytes, start, bytes.length, header)).toBe(true)
        expect(hasWholePayload(bytes, start, end - 1, header)).toBe(false)
        expect(readRecordHeader(bytes, start, start + RECORD_HEADER_LENGTH - 1, SEED)).toBeUndefined()
        expect(readRecordHeader(bytes, start, bytes.length, SEED ^ 1)).toBeUndefined()
        const changed = Buffer.from(bytes)
        changed[start + (place % (end - start))]! ^= 1 << bit
        const found = readRecordHeader(changed, start, changed.length, SEED)
        expect(found !== undefined && hasWholePayload(changed, start, changed.length, found)).toBe(false)
      }
    })
    fc.assert(property, { numRuns: 300 })
  })

  it('is found if it is of a later commit than one that cannot be read', () => {
    const { bytes, starts } = records([Buffer.from('a'), Buffer.from('b'), Buffer.from('c')])
    const [first, second, third] = starts as [number, number, number]
    const find = (at: number, number: number, end = bytes.length) => findLaterRecord(bytes, at, end, number, SEED)
    expect(find(first, 10)).toMatchObject({ number: 11, synced: second })
    expect(find(second, 11)).toMatchObject({ number: 12, synced: third })
    expect(find(third, 12)).toBeUndefined()
    // The header of the last record was not written completely.
    expect(find(second, 11, third + 5)).toBeUndefined()
    // Older records with lower numbers.
    expect(find(second, 20)).toBeUndefined()
    expect(findLaterRecord(bytes, second, bytes.length, 11, SEED ^ 1)).toBeUndefined()
  })

  it('cannot be imitated by the values of another', () => {
    const { bytes } = records([Buffer.from('x')], 12)
    const forged = Buffer.from(bytes)
    putRecordHeader(forged, 0, forged.length, { number: 12, synced: 1_000, before: 0 }, recordSeed(1n, 5))
    const { bytes: outer, starts } = records([Buffer.concat([forged, forged]), Buffer.from('y')])
    expect(findLaterRecord(outer, starts[0]!, starts[1]!, 10, SEED)).toBeUndefined()
  })
})
