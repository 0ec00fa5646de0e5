import { Buffer } from 'node:buffer'
import { checksum } from '../bytes/checksum.js'

// A record of a WAL file. Numbers are big-endian.
//   u32 magic | u32 length of the payload | u64 number of the commit | u32 synced | u32 running checksum before
//   | u32 CRC of all before | u32 CRC of the payload, begun with the CRC before | payload: payload-layout.ts
// `synced` is the offset up to which the file was synced when the record was written. The running checksum is the last
// CRC of the previous record, or of the header. Each record has the CRC of the previous one, so it covers the whole
// file. The CRCs of records begin with the seed of the file (file-header.ts), so nobody can put a record into a value.
// A record without a payload seals the file: it has the number of the first commit of the next file.

const RECORD_MAGIC = 0x4c53_5752
export const RECORD_HEADER_LENGTH = 32
const RECORD_CHECKED_LENGTH = 24

export interface RecordHeader {
  readonly number: number
  readonly payloadLength: number
  readonly synced: number
  /** Running checksum before the record. */
  readonly before: number
  /** Running checksum after the record. */
  readonly payloadChecksum: number
}

/**
 * Puts the header of a record at `start`, before its payload, which ends at `end`. Returns the running checksum after
 * it.
 */
export function putRecordHeader(
  bytes: Buffer,
  start: number,
  end: number,
  { number, synced, before }: Pick<RecordHeader, 'number' | 'synced' | 'before'>,
  seed: number,
): number {
  const payloadStart = start + RECORD_HEADER_LENGTH
  bytes.writeUInt32BE(RECORD_MAGIC, start)
  bytes.writeUInt32BE(end - payloadStart, start + 4)
  bytes.writeUInt32BE(Math.floor(number / 2 ** 32), start + 8)
  bytes.writeUInt32BE(number >>> 0, start + 12)
  bytes.writeUInt32BE(synced, start + 16)
  bytes.writeUInt32BE(before, start + 20)
  const headerChecksum = checksum(bytes, start, start + RECORD_CHECKED_LENGTH, seed)
  bytes.writeUInt32BE(headerChecksum, start + RECORD_CHECKED_LENGTH)
  const payloadChecksum = checksum(bytes, payloadStart, end, headerChecksum)
  bytes.writeUInt32BE(payloadChecksum, start + RECORD_CHECKED_LENGTH + 4)
  return payloadChecksum
}

/** Reads the header of a record. Undefined if it is not whole. */
export function readRecordHeader(bytes: Buffer, at: number, end: number, seed: number): RecordHeader | undefined {
  if (at + RECORD_HEADER_LENGTH > end || bytes.readUInt32BE(at) !== RECORD_MAGIC) return undefined
  const checkedEnd = at + RECORD_CHECKED_LENGTH
  if (bytes.readUInt32BE(checkedEnd) !== checksum(bytes, at, checkedEnd, seed)) return undefined
  return {
    number: bytes.readUInt32BE(at + 8) * 2 ** 32 + bytes.readUInt32BE(at + 12),
    payloadLength: bytes.readUInt32BE(at + 4),
    synced: bytes.readUInt32BE(at + 16),
    before: bytes.readUInt32BE(at + 20),
    payloadChecksum: bytes.readUInt32BE(checkedEnd + 4),
  }
}

/** Whether the payload of a record, whose header is at `at`, is complete and undamaged. */
export function hasWholePayload(bytes: Buffer, at: number, end: number, header: RecordHeader): boolean {
  const start = at + RECORD_HEADER_LENGTH
  const payloadEnd = start + header.payloadLength
  if (payloadEnd > end) return false
  return header.payloadChecksum === checksum(bytes, start, payloadEnd, bytes.readUInt32BE(at + RECORD_CHECKED_LENGTH))
}

/**
 * Finds the first whole record beyond `at` that is of a later commit than `number`, which should be at `at`. Returns
 * its header.
 */
export function findLaterRecord(
  bytes: Buffer,
  at: number,
  end: number,
  number: number,
  seed: number,
): RecordHeader | undefined {
  const magic = Buffer.alloc(4)
  magic.writeUInt32BE(RECORD_MAGIC)
  const rest = bytes.subarray(0, end)
  for (let next = rest.indexOf(magic, at); next !== -1; next = rest.indexOf(magic, next + 1)) {
    const header = readRecordHeader(bytes, next, end, seed)
    if (header && header.number > number) return header
  }
  return undefined
}
