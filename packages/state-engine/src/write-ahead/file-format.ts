import { Buffer } from 'node:buffer'
import { checksum } from '../bytes/checksum.js'
import { writeAheadDamaged } from '../errors.js'

// A write-ahead file is a header, two places for marks, and records. Numbers are big-endian.
//   header: 8 bytes magic | u64 store id | u64 file number | u64 number of its first commit
//           | position: the end of the file before, which is synced to there; zeros if it is not followed | u32 CRC of all before
//   position: u64 length of the file | u64 number of the next commit | u32 running checksum
//   mark: position up to which the file is synced | u64 boot id, 0 if unknown | u32 CRC of all before
//   record: u32 magic | u32 length of the payload | u64 number of the commit | u32 synced | u32 running checksum before
//           | u32 CRC of all before | u32 CRC of the payload, begun with the CRC before | payload: commit-payload.ts
// `synced` is the offset up to which the file was synced when the record was written. The running checksum is the last CRC
// of the record before, or of the header: as each record has that of the one before, it covers the whole file. The CRCs of
// marks and records begin with a number made of the store id, which is random, and the file number: nobody can put a record
// into a value. A record without a payload seals the file: it has the number of the first commit of the next file.
//
// The places for marks are sectors of their own and are written in turn, one between two syncs: a mark that the loss of
// power tears leaves the other one, and the header, as they were.

const FILE_MAGIC = Buffer.from('LSWAL\0\0\x05', 'latin1')
const RECORD_MAGIC = 0x4c53_5752
const SECTOR = 512
const MARK_PLACES = 2
/** All before the first record. */
export const FILE_HEADER_LENGTH = (1 + MARK_PLACES) * SECTOR
const POSITION_LENGTH = 20
const HEADER_CHECKED_LENGTH = 8 + 3 * 8 + POSITION_LENGTH
const MARK_CHECKED_LENGTH = POSITION_LENGTH + 8
const MARK_LENGTH = MARK_CHECKED_LENGTH + 4
export const RECORD_HEADER_LENGTH = 32
const RECORD_CHECKED_LENGTH = 24

/** The end of a record, or of a header. */
export interface LogPosition {
  /** Bytes of the file up to there. */
  readonly length: number
  /** The number of the commit that follows. */
  readonly nextCommit: number
  /** The running checksum of the file up to there. */
  readonly checksum: number
}

/** A position up to which a file is synced, and the run of the machine in which it was written. */
export interface LogMark extends LogPosition {
  readonly bootId: bigint | undefined
}

/** A position in the file with a number; 0 if there is none. */
export interface LogFilePosition extends LogPosition {
  readonly fileNumber: number
}

export interface FileHeader {
  /** Id of the store that the file belongs to. */
  readonly storeId: bigint
  readonly fileNumber: number
  readonly firstCommit: number
  /** The end of the file before, which is sealed there; a length of 0 if the data file has what that file had. */
  readonly before: LogPosition
}

export type ExpectedHeader = Omit<FileHeader, 'before'>

/** A position in no file. */
export const NO_POSITION: LogPosition = { length: 0, nextCommit: 0, checksum: 0 }

/** A file without records: its header, and one mark. */
export function encodeEmptyFile(header: FileHeader, bootId: bigint | undefined): Buffer {
  const bytes = encodeFileHeader(header)
  const mark = { ...startPosition(bytes, header.firstCommit), bootId }
  encodeMark(mark, recordSeed(header.storeId, header.fileNumber)).copy(bytes, markOffset(0))
  return bytes
}

export function encodeFileHeader({ storeId, fileNumber, firstCommit, before }: FileHeader): Buffer {
  const header = Buffer.alloc(FILE_HEADER_LENGTH)
  FILE_MAGIC.copy(header)
  header.writeBigUInt64BE(storeId, 8)
  header.writeBigUInt64BE(BigInt(fileNumber), 16)
  header.writeBigUInt64BE(BigInt(firstCommit), 24)
  putPosition(header, 32, before)
  header.writeUInt32BE(checksum(header, 0, HEADER_CHECKED_LENGTH, 0), HEADER_CHECKED_LENGTH)
  return header
}

/** Undefined if the bytes do not begin with a header that is whole. */
export function decodeFileHeader(bytes: Buffer): FileHeader | undefined {
  if (bytes.length < FILE_HEADER_LENGTH || bytes.compare(FILE_MAGIC, 0, 8, 0, 8) !== 0) return undefined
  if (bytes.readUInt32BE(HEADER_CHECKED_LENGTH) !== checksum(bytes, 0, HEADER_CHECKED_LENGTH, 0)) return undefined
  return {
    storeId: bytes.readBigUInt64BE(8),
    fileNumber: Number(bytes.readBigUInt64BE(16)),
    firstCommit: Number(bytes.readBigUInt64BE(24)),
    before: readPosition(bytes, 32),
  }
}

/** @throws `store_corrupt` unless the file has the header that it should have */
export function expectFileHeader(bytes: Buffer, file: string, expected: ExpectedHeader): FileHeader {
  const found = decodeFileHeader(bytes)
  if (!found) throw writeAheadDamaged(file, 0, 'its header is damaged')
  if (found.storeId !== expected.storeId) throw writeAheadDamaged(file, 0, 'it belongs to another store')
  for (const field of ['fileNumber', 'firstCommit'] as const) {
    if (found[field] === expected[field]) continue
    throw writeAheadDamaged(file, 0, `its header has ${field} ${found[field]}, expected ${expected[field]}`)
  }
  return found
}

/** The position at the beginning of the records of a file. */
export function startPosition(header: Buffer, firstCommit: number): LogPosition {
  return { length: FILE_HEADER_LENGTH, nextCommit: firstCommit, checksum: header.readUInt32BE(HEADER_CHECKED_LENGTH) }
}

/** What the CRCs of the marks and records of a file begin with. */
export function recordSeed(storeId: bigint, fileNumber: number): number {
  return (Number(storeId & 0xffff_ffffn) ^ Math.imul(fileNumber, 0x9e37_79b1)) >>> 0
}

export function markOffset(place: number): number {
  return (1 + (place % MARK_PLACES)) * SECTOR
}

export function encodeMark(mark: LogMark, seed: number): Buffer {
  const bytes = Buffer.alloc(MARK_LENGTH)
  putPosition(bytes, 0, mark)
  bytes.writeBigUInt64BE(mark.bootId ?? 0n, POSITION_LENGTH)
  bytes.writeUInt32BE(checksum(bytes, 0, MARK_CHECKED_LENGTH, seed), MARK_CHECKED_LENGTH)
  return bytes
}

/** A mark that can be read, and its place. */
export interface PlacedMark extends LogMark {
  readonly place: number
}

/** The marks in a header that can be read; the one with the greatest length comes first. */
export function readMarks(header: Buffer, seed: number): PlacedMark[] {
  const marks: PlacedMark[] = []
  for (let place = 0; place < MARK_PLACES; place++) {
    const at = markOffset(place)
    const end = at + MARK_CHECKED_LENGTH
    if (header.length < end + 4 || header.readUInt32BE(end) !== checksum(header, at, end, seed)) continue
    const bootId = header.readBigUInt64BE(at + POSITION_LENGTH) || undefined
    marks.push({ ...readPosition(header, at), bootId, place })
  }
  return marks.sort((a, b) => b.length - a.length)
}

function putPosition(bytes: Buffer, at: number, { length, nextCommit, checksum }: LogPosition): void {
  bytes.writeBigUInt64BE(BigInt(length), at)
  bytes.writeBigUInt64BE(BigInt(nextCommit), at + 8)
  bytes.writeUInt32BE(checksum, at + 16)
}

function readPosition(bytes: Buffer, at: number): LogPosition {
  return {
    length: Number(bytes.readBigUInt64BE(at)),
    nextCommit: Number(bytes.readBigUInt64BE(at + 8)),
    checksum: bytes.readUInt32BE(at + 16),
  }
}

export interface RecordHeader {
  readonly number: number
  readonly payloadLength: number
  readonly synced: number
  /** The running checksum before the record. */
  readonly before: number
  /** The running checksum after it. */
  readonly payloadChecksum: number
}

/**
 * Puts the header of a record at `start`, before its payload, which ends at `end`. Returns the running checksum after it.
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

/** Undefined unless there is the header of a record that is whole. */
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

/** Whether the payload of a record, whose header is at `at`, is there and whole. */
export function hasWholePayload(bytes: Buffer, at: number, end: number, header: RecordHeader): boolean {
  const start = at + RECORD_HEADER_LENGTH
  const payloadEnd = start + header.payloadLength
  if (payloadEnd > end) return false
  return header.payloadChecksum === checksum(bytes, start, payloadEnd, bytes.readUInt32BE(at + RECORD_CHECKED_LENGTH))
}

/** The header of the first record beyond `at` that is whole and of a later commit than `number`, which should be at `at`. */
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
