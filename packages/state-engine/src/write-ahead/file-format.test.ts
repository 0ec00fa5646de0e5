import { Buffer } from 'node:buffer'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import {
  decodeFileHeader,
  encodeFileHeader,
  expectFileHeader,
  FILE_HEADER_LENGTH,
  hasWholePayload,
  isSyncedBeyond,
  putRecordHeader,
  RECORD_HEADER_LENGTH,
  readRecordHeader,
  recordSeed,
} from './file-format.js'

const HEADER = { storeId: 0xfedc_ba98_7654_3210n, fileNumber: 5, firstCommit: 2 ** 40 + 7 }
const SEED = recordSeed(HEADER.storeId, HEADER.fileNumber)

/** Records one after another; each says that the file is synced up to its own beginning. */
function records(payloads: readonly Uint8Array[], firstNumber = 10) {
  const starts: number[] = []
  let bytes = Buffer.alloc(0)
  for (const [at, payload] of payloads.entries()) {
    const start = bytes.length
    starts.push(start)
    bytes = Buffer.concat([bytes, Buffer.alloc(RECORD_HEADER_LENGTH), payload])
    putRecordHeader(bytes, start, bytes.length, { number: firstNumber + at, synced: start }, SEED)
  }
  return { bytes, starts }
}

describe('the header of a write-ahead file', () => {
  it('is read back, and no part or change of it is taken for one', () => {
    const bytes = encodeFileHeader(HEADER)
    expect(bytes).toHaveLength(FILE_HEADER_LENGTH)
    expect(decodeFileHeader(bytes)).toEqual(HEADER)
    for (let at = 0; at < bytes.length; at++) {
      expect(decodeFileHeader(bytes.subarray(0, at))).toBeUndefined()
      const changed = Buffer.from(bytes)
      changed[at]! ^= 1 << (at % 8)
      expect(decodeFileHeader(changed)).toBeUndefined()
      expect(() => expectFileHeader(changed, 'write-ahead-5', HEADER)).toThrow(/write-ahead-5 at byte 0: its header/)
    }
  })

  it('says of which store, file and commit it is', () => {
    const bytes = encodeFileHeader(HEADER)
    const expectRefused = (expected: object, message: RegExp) =>
      expect(() => expectFileHeader(bytes, 'f', { ...HEADER, ...expected })).toThrow(message)
    expectFileHeader(bytes, 'f', HEADER)
    expectRefused({ storeId: 1n }, /belongs to another store/)
    expectRefused({ fileNumber: 6 }, /fileNumber 5, expected 6/)
    expectRefused({ firstCommit: 1 }, /firstCommit 1099511627783, expected 1/)
  })
})

describe('a record of a write-ahead file', () => {
  const PAYLOADS = fc.array(fc.uint8Array({ minLength: 1, maxLength: 300 }), { minLength: 1, maxLength: 6 })

  it('is read back, and no part or change of it is taken for one', () => {
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

  it('shows damage if a later one says that the file was synced', () => {
    const { bytes, starts } = records([Buffer.from('a'), Buffer.from('b'), Buffer.from('c')])
    const [first, second, third] = starts as [number, number, number]
    expect(isSyncedBeyond(bytes, first, bytes.length, 10, SEED)).toBe(true)
    expect(isSyncedBeyond(bytes, second, bytes.length, 11, SEED)).toBe(true)
    expect(isSyncedBeyond(bytes, third, bytes.length, 12, SEED)).toBe(false)
    // The last record was not written as a whole.
    expect(isSyncedBeyond(bytes, second, third + 5, 11, SEED)).toBe(false)
    // Records that were there before, with lower numbers.
    expect(isSyncedBeyond(bytes, second, bytes.length, 20, SEED)).toBe(false)
    expect(isSyncedBeyond(bytes, second, bytes.length, 11, SEED ^ 1)).toBe(false)
  })

  it('cannot be imitated by the values of another', () => {
    const { bytes } = records([Buffer.from('x')], 12)
    const forged = Buffer.from(bytes)
    putRecordHeader(forged, 0, forged.length, { number: 12, synced: 1_000 }, recordSeed(1n, 5))
    const { bytes: outer, starts } = records([Buffer.concat([forged, forged]), Buffer.from('y')])
    expect(isSyncedBeyond(outer, starts[0]!, starts[1]!, 10, SEED)).toBe(false)
  })
})
