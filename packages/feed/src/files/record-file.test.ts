import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { gzipSync } from 'node:zlib'
import fc from 'fast-check'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { framed } from '../../testing/backup-service.ts'
import { MAX_RECORD_BYTES, readRecords } from './record-file.js'
import { PIECE_BYTES } from './regular-file.js'

let folder: string
let path: string
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'records-'))
  path = join(folder, '0-.chunk')
})
afterAll(() => {
  rmSync(folder, { recursive: true, force: true })
})

async function recordsOf(content: Uint8Array): Promise<Buffer[]> {
  writeFileSync(path, content)
  const read: Buffer[] = []
  for await (const records of readRecords(path)) read.push(...records)
  return read
}

/** Bytes that differ from place to place. */
function patterned(length: number): Buffer {
  return Buffer.from(Uint8Array.from({ length }, (_, at) => (at * 31 + (at >> 8)) & 0xff))
}

describe('readRecords', () => {
  it('gives the records of a file, wherever its pieces end', async () => {
    // Lengths around those of a piece, so that a length or a record ends with a piece, or begins in it.
    const nearPiece = fc.integer({ min: PIECE_BYTES - 12, max: PIECE_BYTES + 4 })
    const length = fc.oneof(fc.integer({ min: 0, max: 9 }), fc.integer({ max: 3_000, min: 0 }), nearPiece)
    await fc.assert(
      fc.asyncProperty(fc.array(length, { maxLength: 6 }), fc.boolean(), async (lengths, isPacked) => {
        const records = lengths.map(patterned)
        const content = framed(records)
        const read = await recordsOf(isPacked ? gzipSync(content, { level: 1 }) : content)
        expect(read.length).toBe(records.length)
        for (const [at, record] of records.entries()) expect(Buffer.compare(read[at]!, record)).toBe(0)
      }),
      { numRuns: 40 },
    )
  })

  it('holds a record of several pieces once', async () => {
    const [record] = await recordsOf(framed([patterned(3 * PIECE_BYTES)]))
    expect(record!.buffer.byteLength).toBe(3 * PIECE_BYTES)
  })

  it('refuses a record that is too long, or cut short', async () => {
    const long = Buffer.alloc(4)
    long.writeUInt32BE(MAX_RECORD_BYTES + 1)
    const message = `record 1: expected a length of at most ${MAX_RECORD_BYTES} bytes, found ${MAX_RECORD_BYTES + 1}`
    await expect(recordsOf(Buffer.concat([framed([patterned(5)]), long]))).rejects.toThrow(message)
    const whole = framed([patterned(5), patterned(2 * PIECE_BYTES)])
    for (const end of [1, 3, 4, 8, 10, 13, 14, PIECE_BYTES, whole.length - 1]) {
      const record = end < 9 ? 0 : 1
      await expect(recordsOf(whole.subarray(0, end)), `${end}`).rejects.toThrow(`is cut short within record ${record}`)
    }
    expect(await recordsOf(Buffer.alloc(0))).toEqual([])
  })
})
