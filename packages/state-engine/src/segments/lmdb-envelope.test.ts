import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { open } from 'lmdb'
import { expect, it } from 'vitest'
import { temporaryFolder } from '../../testing/temporary-folder.ts'
import { decodeEnvelope, ENVELOPE_LENGTH, encodeEnvelope, fileLength, SEGMENT_KEY } from './lmdb-envelope.ts'

const folder = temporaryFolder()
/** The writer leaves out the size of the map and the boot id, which depend on the process and the machine. */
const LEFT_OUT = [
  [40, 48],
  [160, 168],
] as const

it.each([5_000, 4_096 * 3 - 24, 4_096 * 3 - 23, 20_000_003])(
  'LMDB begins the file of a value of %i bytes the same',
  async (length) => {
    const path = join(folder.path, 'by-lmdb')
    const options = { path, noSubdir: true, encoding: 'binary', keyEncoding: 'binary', pageSize: 4_096 } as const
    const database = open<Buffer, Uint8Array>({ ...options, overlappingSync: false, mapSize: 2 ** 26 })
    database.putSync(SEGMENT_KEY, Buffer.alloc(length, 7))
    await database.close()
    const file = readFileSync(path)
    const [theirs, ours] = [file.subarray(0, ENVELOPE_LENGTH), encodeEnvelope(length)]
    for (const page of [0, 4_096]) {
      for (const [start, end] of LEFT_OUT) {
        theirs.fill(0, page + start, page + end)
        ours.fill(0, page + start, page + end)
      }
    }
    expect(theirs.equals(ours)).toBe(true)
    expect(file.length).toBe(fileLength(length))
  },
)

it('any other byte is noticed, or gives another length', () => {
  const length = 123_456
  const envelope = encodeEnvelope(length)
  expect(decodeEnvelope(envelope)).toBe(length)
  for (let at = 0; at < ENVELOPE_LENGTH; at++) {
    // A sample of the zeros, and all other bytes.
    if (at % 13 !== 0 && envelope[at] === 0) continue
    envelope[at]! ^= 1
    const decoded = decodeEnvelope(envelope)
    expect(decoded === undefined || decoded !== length, `byte ${at}`).toBe(true)
    envelope[at]! ^= 1
  }
  expect(decodeEnvelope(envelope.subarray(0, ENVELOPE_LENGTH - 1))).toBe(undefined)
})
