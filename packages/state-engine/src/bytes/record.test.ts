import { Buffer } from 'node:buffer'
import { expect, it } from 'vitest'
import { openRecord, RecordBuilder } from './record.js'

/** Length of the first buffer. */
const ROOM = 8_192

it.each([
  ['u8', '01', (record: RecordBuilder) => record.u8(1)],
  ['u32', '01020304', (record: RecordBuilder) => record.u32(0x0102_0304)],
  ['u64', '0102030405060708', (record: RecordBuilder) => record.u64(0x0102_0304_0506_0708n)],
  ['uint', '010203', (record: RecordBuilder) => record.uint(0x01_0203, 3)],
  ['bytes', '0102', (record: RecordBuilder) => record.bytes(Buffer.of(1, 2))],
])('a buffer that grows for %s loses nothing', (_name, expected, add) => {
  const record = new RecordBuilder().begin().bytes(Buffer.alloc(ROOM, 7))
  const content = openRecord(add(record).seal(0), 0, () => 'the record').toString('hex')
  expect(content.slice(0, 2 * ROOM)).toBe('07'.repeat(ROOM))
  expect(content.slice(2 * ROOM)).toBe(expected)
})
