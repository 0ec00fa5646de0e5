import { closeSync, fstatSync, openSync, readSync } from 'node:fs'
import { type BlockInfo, isLedgerStateError } from '@ledger-state/core'
import { commitsMissing, storeCorruptErrors } from '../errors.js'
import type { LmdbStore } from '../lmdb/lmdb-store.js'
import type { KeyHash } from '../memtable/key-hash.js'
import { Segment } from '../memtable/segment.js'
import type { SegmentMemory } from '../memtable/segment-memory.js'
import type { LedgerRecord } from '../records/ledger-record.js'
import type { LogFilePosition, LogPosition } from '../records/log-position.js'
import { walFilePath } from './append-file.js'
import { readBootId } from './boot-id.js'
import {
  expectFileHeader,
  FILE_HEADER_LENGTH,
  type PlacedSyncMark,
  readSyncMarks,
  recordSeed,
  startPosition,
} from './file-header.js'
import { indexCommit } from './index-payload.js'
import { readNextFile } from './next-file.js'
import {
  findLaterRecord,
  hasWholePayload,
  RECORD_HEADER_LENGTH,
  type RecordHeader,
  readRecordHeader,
} from './record.js'

/** Longest file: 2 GiB, more than a writer ever writes. */
const MAX_FILE_LENGTH = 2 ** 31

export interface WalReaderOptions {
  readonly folder: string
  readonly storeId: bigint
  readonly fileNumber: number
  /** Number that the first commit of the file should have. */
  readonly firstCommit: number
  /** Newest block before that commit. */
  readonly blockBefore: BlockInfo | undefined
  /** End of the newest file according to the ledger record. */
  readonly logEnd: LogFilePosition
  /** End of the previous file; undefined if that file is merged. */
  readonly before?: LogPosition | undefined
  /** File that errors name, if this one is a copy of it. */
  readonly copyOf?: string | undefined
}

/** Options for the first file that is not merged completely. */
export function firstFileOptions(
  { path: folder, storeId }: Pick<LmdbStore, 'path' | 'storeId'>,
  { walFile, nextCommit, ledger, logEnd }: LedgerRecord,
): WalReaderOptions {
  return { folder, storeId, fileNumber: walFile, firstCommit: nextCommit, blockBefore: ledger.latestBlock, logEnd }
}

/** Reason why the records of a file must not end where they do. */
interface MissingCommits {
  /** Number of the first commit after the missing ones. */
  readonly until: number
  /** How it is known that they existed. */
  readonly because: string
}

/** Reads a WAL file into a segment, and later the records appended to it. */
export class WalReader {
  /** Path of the file for errors. */
  readonly path: string
  readonly segment: Segment
  readonly #hash: KeyHash
  readonly #options: WalReaderOptions
  readonly #descriptor: number
  readonly #seed: number
  #end: LogPosition
  /** Positions that the file must have, beyond the part that was read. */
  #expected: LogPosition[] = []
  #syncMarks: readonly PlacedSyncMark[] = []
  /** End of the bytes that were loaded last. */
  #loaded = 0
  /** Length that was read, and size of the file, when its end was last examined. */
  #examined = { length: 0, size: 0 }
  #damage: Error | undefined
  #isSealed = false

  /**
   * Opens a file, and reads only its header.
   * @param memory memory for the segment
   * @throws `store_corrupt`, or errors of the system, such as ENOENT
   */
  constructor(options: WalReaderOptions, hash: KeyHash, memory?: SegmentMemory) {
    const { folder, storeId, fileNumber, firstCommit, before } = options
    const file = walFilePath(folder, fileNumber)
    this.path = options.copyOf ?? file
    this.segment = new Segment(fileNumber, hash, memory)
    this.#hash = hash
    this.#options = options
    this.#seed = recordSeed(storeId, fileNumber)
    this.#descriptor = openSync(file, 'r')
    try {
      const length = this.#load(FILE_HEADER_LENGTH)
      const bytes = this.segment.bytes.subarray(0, Math.min(length, FILE_HEADER_LENGTH))
      const header = expectFileHeader(bytes, this.path, { storeId, fileNumber, firstCommit })
      if (before && (header.before.length !== before.length || header.before.checksum !== before.checksum)) {
        throw storeCorruptErrors.fileDamaged(this.path, 0, 'the file before it is not the one that it follows')
      }
      this.#end = startPosition(bytes, firstCommit)
      this.segment.length = FILE_HEADER_LENGTH
      this.#readExpected(bytes)
      if (this.#syncMarks.length === 0) throw storeCorruptErrors.fileDamaged(this.path, 0, 'its sync marks are damaged')
    } catch (error) {
      this.close()
      throw error
    }
  }

  /** Options for the file that follows this one, as far as it was read. */
  get next(): WalReaderOptions {
    return {
      ...this.#options,
      fileNumber: this.#options.fileNumber + 1,
      firstCommit: this.nextCommit,
      blockBefore: this.segment.head?.latestBlock ?? this.#options.blockBefore,
      before: this.#end,
    }
  }

  /** Whether the file is sealed. */
  get isSealed(): boolean {
    return this.#isSealed
  }

  /** Number of the commit after those that were read. */
  get nextCommit(): number {
    return this.#end.nextCommit
  }

  /** End of the part that was read. If the file is sealed, it is before the record that seals it. */
  get end(): LogPosition {
    return this.#end
  }

  /** Readable sync marks of the file. */
  get syncMarks(): readonly PlacedSyncMark[] {
    return this.#syncMarks
  }

  /** Number of bytes behind the records that the last `read` met. */
  get unreadableBytes(): number {
    return Math.max(0, this.#loaded - this.segment.length)
  }

  /**
   * Indexes the commits that were appended, as far as they are complete. A writer may be appending the bytes after them
   * now, or may have been killed while it did.
   * @throws `store_corrupt` if commits are missing there, or anywhere before
   */
  read(): void {
    if (this.#isSealed) return
    if (this.#damage) throw this.#damage
    try {
      this.#readToEnd()
    } catch (error) {
      // Reading everything again would find the same damage, until the file is merged and dropped. A call of the system that
      // failed may succeed the next time.
      if (isLedgerStateError(error, 'store_corrupt')) this.#damage = error
      throw error
    }
  }

  #readToEnd(): void {
    for (let missing: MissingCommits | undefined; ; ) {
      const { length } = this.segment
      const size = this.#readRecords()
      if (this.#isSealed || this.#isExamined(size)) return
      // The evidence of missing commits may have been written after the records were read. The second time it was not.
      if (missing && length === this.segment.length) throw this.#missing(missing)
      missing = this.#findMissing(size)
      if (!missing) {
        this.#examined = { length: this.segment.length, size }
        return
      }
    }
  }

  /** Reads the records. Returns the size of the file up to which it read. */
  #readRecords(): number {
    const { size } = fstatSync(this.#descriptor)
    if (size <= this.segment.length) return size
    const end = this.#load(size)
    this.#loaded = end
    for (let header = this.#nextRecord(end); header && !this.#isSealed; header = this.#nextRecord(end)) {
      this.#index(header)
    }
    return end
  }

  /** Whether the end was examined already: the file is the same as then, or was appended to. */
  #isExamined(size: number): boolean {
    const { length } = this.segment
    const examined = this.#examined
    if (examined.length === 0) return false
    return size === length || (examined.length === length && examined.size === size)
  }

  #findMissing(size: number): MissingCommits | undefined {
    const { segment } = this
    const header = segment.bytes.subarray(0, FILE_HEADER_LENGTH)
    readSync(this.#descriptor, header, 0, FILE_HEADER_LENGTH, 0)
    this.#readExpected(header)
    const next = readNextFile(this.#options)
    if (next) this.#expect(next.before)
    if (this.#expected.length > 0) {
      return {
        until: Math.max(...this.#expected.map(({ nextCommit }) => nextCommit)),
        because: 'the file had more when it was synced',
      }
    }
    // A file is sealed before the next one, which says where it ends, has commits.
    if (next?.hasCommits && next.before.length > 0) {
      return { until: next.firstCommit, because: 'the next file has commits' }
    }
    return this.#findLater(size)
  }

  /** Finds a record that follows an unreadable one. */
  #findLater(size: number): MissingCommits | undefined {
    const { bytes, length: at } = this.segment
    const header = readRecordHeader(bytes, at, size, this.#seed)
    // A record that is longer than the file is being written.
    if (header && at + RECORD_HEADER_LENGTH + header.payloadLength > size) return undefined
    const later = findLaterRecord(bytes, at, size, this.nextCommit, this.#seed)
    // If there was no sync between them, a loss of power may leave the later of two records without the earlier one.
    if (!later || (later.synced <= at && !this.#isOfThisBoot())) return undefined
    return { until: later.number, because: 'later ones follow' }
  }

  /** Whether the machine has run without a break since a writer opened the file. */
  #isOfThisBoot(): boolean {
    const bootId = readBootId()
    return bootId !== undefined && this.#syncMarks.some((mark) => mark.bootId === bootId)
  }

  #missing({ until, because }: MissingCommits): Error {
    return commitsMissing(this.path, this.segment.length, this.nextCommit, until, because)
  }

  close(): void {
    closeSync(this.#descriptor)
  }

  #readExpected(header: Buffer): void {
    const { logEnd, fileNumber } = this.#options
    this.#syncMarks = readSyncMarks(header, this.#seed)
    this.#expected = []
    for (const mark of this.#syncMarks) this.#expect(mark)
    if (logEnd.fileNumber === fileNumber) this.#expect(logEnd)
  }

  /** Notes a position that the records must reach. */
  #expect(position: LogPosition): void {
    if (position.length > this.segment.length) this.#expected.push(position)
  }

  /** Reads the file up to an offset into the arena, after its used part. Returns how far it read. */
  #load(end: number): number {
    const { segment } = this
    if (end > MAX_FILE_LENGTH) throw storeCorruptErrors.fileDamaged(this.path, MAX_FILE_LENGTH, 'the file is too long')
    segment.reserve(end - segment.length)
    for (let at = segment.length; ; ) {
      const count = at < end ? readSync(this.#descriptor, segment.bytes, at, end - at, at) : 0
      if (count === 0) return at
      at += count
    }
  }

  /**
   * Header of the next record. Undefined if the record does not exist, is incomplete, or does not follow the previous
   * one.
   */
  #nextRecord(end: number): RecordHeader | undefined {
    const { bytes, length } = this.segment
    const header = readRecordHeader(bytes, length, end, this.#seed)
    if (!header || header.before !== this.#end.checksum) return undefined
    return hasWholePayload(bytes, length, end, header) ? header : undefined
  }

  #index({ number, payloadLength, payloadChecksum }: RecordHeader): void {
    const { segment } = this
    const start = segment.length + RECORD_HEADER_LENGTH
    if (number !== this.nextCommit) {
      throw storeCorruptErrors.fileDamaged(this.path, segment.length, `commit ${number} instead of ${this.nextCommit}`)
    }
    segment.length = start + payloadLength
    if (payloadLength === 0) {
      this.#isSealed = true
    } else {
      const blockBefore = segment.head?.latestBlock ?? this.#options.blockBefore
      segment.head = indexCommit(segment, this.#hash, number, start, segment.length, blockBefore)
      this.#end = { length: segment.length, nextCommit: number + 1, checksum: payloadChecksum }
    }
    this.#confirm()
  }

  /** Checks that the records are those that were synced. @throws `store_corrupt` if they are others */
  #confirm(): void {
    if (this.#expected.length === 0) return
    const { length, checksum } = this.#end
    for (const expected of this.#expected) {
      const isBeyond = this.#isSealed || expected.length < this.segment.length
      const isOther = expected.length === length ? expected.checksum !== checksum : isBeyond
      if (isOther) {
        throw storeCorruptErrors.fileDamaged(this.path, expected.length, 'its commits are not those that were synced')
      }
    }
    this.#expected = this.#expected.filter((expected) => expected.length > length && !this.#isSealed)
  }
}
