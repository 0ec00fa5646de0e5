import { Buffer } from 'node:buffer'
import { checksum } from '../bytes/checksum.js'
import { writeAheadDamaged } from '../port/errors.js'

// A write-ahead file is a header and records. Numbers are big-endian.
//   header: 8 bytes magic | u64 store id | u64 file number | u64 number of its first commit | u32 CRC of all before
//   record: u32 magic | u32 length of the payload | u64 number of the commit | u32 synced | u32 CRC of all before
//           | u32 CRC of the payload, begun with the CRC before | payload: commit-payload.ts
// `synced` is the offset up to which the file was synced when the record was written. The CRC of a record begins with a
// number made of the store id, which is random, and the file number: nobody can put a record into a value.
// A record without a payload seals the file: it has the number of the first commit of the next file.

const FILE_MAGIC = Buffer.from('LSWAL\0\0\x04', 'latin1')
const RECORD_MAGIC = 0x4c53_5752
export const FILE_HEADER_LENGTH = 8 + 3 * 8 + 4
export const RECORD_HEADER_LENGTH = 28
const CHECKED_LENGTH = 20

export interface FileHeader {
  /** Of the store that the file belongs to. */
  readonly storeId: bigint
  readonly fileNumber: number
  readonly firstCommit: number
}

export function encodeFileHeader({ storeId, fileNumber, firstCommit }: FileHeader): Buffer {
  const header = Buffer.alloc(FILE_HEADER_LENGTH)
  FILE_MAGIC.copy(header)
  header.writeBigUInt64BE(storeId, 8)
  header.writeBigUInt64BE(BigInt(fileNumber), 16)
  header.writeBigUInt64BE(BigInt(firstCommit), 24)
  header.writeUInt32BE(checksum(header, 0, FILE_HEADER_LENGTH - 4, 0), FILE_HEADER_LENGTH - 4)
  return header
}

/** Undefined if the bytes do not begin with a header that is whole. */
export function decodeFileHeader(bytes: Buffer): FileHeader | undefined {
  const end = FILE_HEADER_LENGTH - 4
  if (bytes.length < FILE_HEADER_LENGTH || bytes.compare(FILE_MAGIC, 0, 8, 0, 8) !== 0) return undefined
  if (bytes.readUInt32BE(end) !== checksum(bytes, 0, end, 0)) return undefined
  return {
    storeId: bytes.readBigUInt64BE(8),
    fileNumber: Number(bytes.readBigUInt64BE(16)),
    firstCommit: Number(bytes.readBigUInt64BE(24)),
  }
}

/** @throws `store_corrupt` unless the file has the header that it should have */
export function expectFileHeader(bytes: Buffer, file: string, expected: FileHeader): void {
  const found = decodeFileHeader(bytes)
  if (!found) throw writeAheadDamaged(file, 0, 'its header is damaged')
  if (found.storeId !== expected.storeId) throw writeAheadDamaged(file, 0, 'it belongs to another store')
  for (const field of ['fileNumber', 'firstCommit'] as const) {
    if (found[field] === expected[field]) continue
    throw writeAheadDamaged(file, 0, `its header has ${field} ${found[field]}, expected ${expected[field]}`)
  }
}

/** What the CRCs of the records of a file begin with. */
export function recordSeed(storeId: bigint, fileNumber: number): number {
  return (Number(storeId & 0xffff_ffffn) ^ Math.imul(fileNumber, 0x9e37_79b1)) >>> 0
}

export interface RecordHeader {
  readonly number: number
  readonly payloadLength: number
  readonly synced: number
  readonly payloadChecksum: number
}

/** Puts the header of a record at `start`, before its payload, which ends at `end`. */
export function putRecordHeader(
  bytes: Buffer,
  start: number,
  end: number,
  { number, synced }: Pick<RecordHeader, 'number' | 'synced'>,
  seed: number,
): void {
  const payloadStart = start + RECORD_HEADER_LENGTH
  bytes.writeUInt32BE(RECORD_MAGIC, start)
  bytes.writeUInt32BE(end - payloadStart, start + 4)
  bytes.writeUInt32BE(Math.floor(number / 2 ** 32), start + 8)
  bytes.writeUInt32BE(number >>> 0, start + 12)
  bytes.writeUInt32BE(synced, start + 16)
  const headerChecksum = checksum(bytes, start, start + CHECKED_LENGTH, seed)
  bytes.writeUInt32BE(headerChecksum, start + 20)
  bytes.writeUInt32BE(checksum(bytes, payloadStart, end, headerChecksum), start + 24)
}

/** Undefined unless there is the header of a record that is whole. */
export function readRecordHeader(bytes: Buffer, at: number, end: number, seed: number): RecordHeader | undefined {
  if (at + RECORD_HEADER_LENGTH > end || bytes.readUInt32BE(at) !== RECORD_MAGIC) return undefined
  if (bytes.readUInt32BE(at + 20) !== checksum(bytes, at, at + CHECKED_LENGTH, seed)) return undefined
  return {
    number: bytes.readUInt32BE(at + 8) * 2 ** 32 + bytes.readUInt32BE(at + 12),
    payloadLength: bytes.readUInt32BE(at + 4),
    synced: bytes.readUInt32BE(at + 16),
    payloadChecksum: bytes.readUInt32BE(at + 24),
  }
}

/** Whether the payload of a record, whose header is at `at`, is there and whole. */
export function hasWholePayload(bytes: Buffer, at: number, end: number, header: RecordHeader): boolean {
  const start = at + RECORD_HEADER_LENGTH
  const payloadEnd = start + header.payloadLength
  if (payloadEnd > end) return false
  return header.payloadChecksum === checksum(bytes, start, payloadEnd, bytes.readUInt32BE(at + 20))
}

/**
 * Whether a later record says that the file was synced beyond `at`: then what is there is damage, and not the end of a
 * file that was being written. `number` is that of the commit that should be there.
 */
export function isSyncedBeyond(bytes: Buffer, at: number, end: number, number: number, seed: number): boolean {
  const magic = Buffer.alloc(4)
  magic.writeUInt32BE(RECORD_MAGIC)
  const rest = bytes.subarray(0, end)
  for (let next = rest.indexOf(magic, at); next !== -1; next = rest.indexOf(magic, next + 1)) {
    const header = readRecordHeader(bytes, next, end, seed)
    if (header && header.number > number && header.synced > at) return true
  }
  return false
}
