import { Buffer } from 'node:buffer'
import { checksum } from '../bytes/checksum.js'
import { storeCorruptErrors } from '../errors.js'
import type { LogPosition } from '../records/log-position.js'

// A WAL file is a header, two places for sync marks, and records (record.ts). Numbers are big-endian.
//   header: 8 bytes magic | u64 store id | u64 file number | u64 number of its first commit
//           | position: the end of the previous file, which is synced up to there; zeros if this file does not continue it | u32 CRC of all before
//   position: u64 length of the file | u64 number of the next commit | u32 running checksum
//   sync mark: position up to which the file is synced | u64 boot id, 0 if unknown | u32 CRC of all before
// The CRCs of sync marks and records begin with a seed made of the store id, which is random, and the file number.
//
// Each place for a sync mark is a separate sector. They are written in turn, one between two syncs, so if a loss of power
// tears a sync mark, the other one and the header stay as they were.

const FILE_MAGIC = Buffer.from('LSWAL\0\0\x05', 'latin1')
const SECTOR = 512
const MARK_PLACES = 2
/** Length of everything before the first record. */
export const FILE_HEADER_LENGTH = (1 + MARK_PLACES) * SECTOR
const POSITION_LENGTH = 20
const HEADER_CHECKED_LENGTH = 8 + 3 * 8 + POSITION_LENGTH
const MARK_CHECKED_LENGTH = POSITION_LENGTH + 8
const MARK_LENGTH = MARK_CHECKED_LENGTH + 4

/** A position up to which a file is synced, and the run of the machine in which it was written. */
export interface SyncMark extends LogPosition {
  readonly bootId: bigint | undefined
}

export interface FileHeader {
  /** Id of the store that the file belongs to. */
  readonly storeId: bigint
  readonly fileNumber: number
  readonly firstCommit: number
  /** End of the previous file, which is sealed there; its length is 0 if the data file has everything of that file. */
  readonly before: LogPosition
}

export type ExpectedHeader = Omit<FileHeader, 'before'>

/** Encodes a file without records: its header, and one sync mark. */
export function encodeEmptyFile(header: FileHeader, bootId: bigint | undefined): Buffer {
  const bytes = encodeFileHeader(header)
  const mark = { ...startPosition(bytes, header.firstCommit), bootId }
  encodeSyncMark(mark, recordSeed(header.storeId, header.fileNumber)).copy(bytes, syncMarkOffset(0))
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

/** Decodes a header. Undefined if the bytes do not begin with a whole header. */
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

/** Checks that a file has the expected header. @throws `store_corrupt` if it does not */
export function expectFileHeader(bytes: Buffer, file: string, expected: ExpectedHeader): FileHeader {
  const found = decodeFileHeader(bytes)
  if (!found) throw storeCorruptErrors.fileDamaged(file, 0, 'its header is damaged')
  if (found.storeId !== expected.storeId) throw storeCorruptErrors.fileDamaged(file, 0, 'it belongs to another store')
  for (const field of ['fileNumber', 'firstCommit'] as const) {
    if (found[field] === expected[field]) continue
    throw storeCorruptErrors.fileDamaged(
      file,
      0,
      `its header has ${field} ${found[field]}, expected ${expected[field]}`,
    )
  }
  return found
}

/** Position at the beginning of the records of a file. */
export function startPosition(header: Buffer, firstCommit: number): LogPosition {
  return { length: FILE_HEADER_LENGTH, nextCommit: firstCommit, checksum: header.readUInt32BE(HEADER_CHECKED_LENGTH) }
}

/** Seed of the CRCs of the sync marks and records of a file. */
export function recordSeed(storeId: bigint, fileNumber: number): number {
  return (Number(storeId & 0xffff_ffffn) ^ Math.imul(fileNumber, 0x9e37_79b1)) >>> 0
}

export function syncMarkOffset(place: number): number {
  return (1 + (place % MARK_PLACES)) * SECTOR
}

export function encodeSyncMark(mark: SyncMark, seed: number): Buffer {
  const bytes = Buffer.alloc(MARK_LENGTH)
  putPosition(bytes, 0, mark)
  bytes.writeBigUInt64BE(mark.bootId ?? 0n, POSITION_LENGTH)
  bytes.writeUInt32BE(checksum(bytes, 0, MARK_CHECKED_LENGTH, seed), MARK_CHECKED_LENGTH)
  return bytes
}

/** A readable sync mark, and its place. */
export interface PlacedSyncMark extends SyncMark {
  readonly place: number
}

/** Reads the readable sync marks in a header. The one with the greatest length comes first. */
export function readSyncMarks(header: Buffer, seed: number): PlacedSyncMark[] {
  const marks: PlacedSyncMark[] = []
  for (let place = 0; place < MARK_PLACES; place++) {
    const at = syncMarkOffset(place)
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
