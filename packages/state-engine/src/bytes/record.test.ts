import { Buffer } from 'node:buffer'
import { expect, it } from 'vitest'
import { MAX_RECORD_LENGTH, RecordBuilder } from './record.js'

const ROOM = 2 * MAX_RECORD_LENGTH

it.each([
  ['u8', '01', (record: RecordBuilder) => record.u8(1)],
  ['u16', '0102', (record: RecordBuilder) => record.u16(0x0102)],
  ['u32', '01020304', (record: RecordBuilder) => record.u32(0x0102_0304)],
  ['u48', '010203040506', (record: RecordBuilder) => record.u48(0x0102_0304_0506)],
  ['u64', '0102030405060708', (record: RecordBuilder) => record.u64(0x0102_0304_0506_0708n)],
  ['uint', '010203', (record: RecordBuilder) => record.uint(0x01_0203, 3)],
  ['bytes', '0102', (record: RecordBuilder) => record.bytes(Buffer.of(1, 2))],
  ['part', '0102', (record: RecordBuilder) => record.part(Buffer.of(0, 1, 2), 1, 3)],
  [
    'room',
    '0102',
    (record: RecordBuilder) => {
      record.room(2).set([1, 2])
      return record
    },
  ],
])('a buffer that grows for %s loses nothing', (_name, expected, add) => {
  const record = new RecordBuilder().begin().bytes(Buffer.alloc(ROOM, 7))
  const content = Buffer.from(add(record).content).toString('hex')
  expect(content.slice(0, 2 * ROOM)).toBe('07'.repeat(ROOM))
  expect(content.slice(2 * ROOM)).toBe(expected)
})
