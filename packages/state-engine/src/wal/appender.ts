import { rmSync } from 'node:fs'
import { rm } from 'node:fs/promises'
import { removeIfPossible, syncFile, syncFolder } from '@ledger-state/core/files'
import { storeFailedErrors } from '../errors.js'
import type { AtFailpoint, Failpoint } from '../failpoints/failpoints.js'
import type { LmdbStore } from '../lmdb/lmdb-store.js'
import { toStoreError, withStoreErrorsAsync } from '../lmdb/store-errors.js'
import type { Memtable } from '../memtable/memtable.js'
import { type Checkpoint, type CommitHead, Segment } from '../memtable/segment.js'
import { allocateSegment, type SegmentMemory } from '../memtable/segment-memory.js'
import type { LedgerRecord } from '../records/ledger-record.js'
import { type LogFilePosition, type LogPosition, NO_POSITION } from '../records/log-position.js'
import { AppendFile, listWalFiles, type Written, walFilePath } from './append-file.js'
import { readBootId } from './boot-id.js'
import {
  encodeEmptyFile,
  encodeSyncMark,
  recordSeed,
  type SyncMark,
  startPosition,
  syncMarkOffset,
} from './file-header.js'
import {
  applyTruncation,
  type CommitContent,
  type HasValue,
  type MarkContent,
  payloadLength,
  putCommitInSteps,
  putMarkPayload,
  putTruncation,
  type TruncationContent,
  truncationLength,
} from './put-payload.js'
import { putRecordHeader, RECORD_HEADER_LENGTH } from './record.js'

/** Most times the usual bytes of a segment that an arena may have for its memory to be used again. */
const MOST_REUSED = 2

/** File to which commits are appended. */
export interface ActiveFile {
  readonly file: AppendFile
  readonly segment: Segment
  /** End of its commits. */
  end: LogPosition
  /** Position up to which it is synced. */
  synced: LogPosition
  /** The newest sync mark in the file; undefined if none can be read. */
  marked: SyncMark | undefined
  /** Place of the next sync mark. */
  nextMark: number
}

export interface RecoveredWal {
  readonly memtable: Memtable
  /** The active file. Its segment is the last of the memtable. Undefined in a store without commits. */
  readonly active: ActiveFile | undefined
  readonly nextCommit: number
}

/**
 * The next WAL file, opened by a change of the data file that bypasses the write-ahead log. The ledger record
 * names it.
 */
export interface FollowingFile {
  readonly walFile: number
  /** Number of its first commit. */
  readonly nextCommit: number
}

/** A record in the arena that is not in the file yet. */
interface PlacedRecord {
  /** State of the segment without the record. */
  readonly before: Checkpoint
  /** Position of the end of the record. */
  readonly end: LogPosition
  /** Head of the segment once the record is written. */
  readonly head: CommitHead
  /** Further change of the segment once the record is written. */
  readonly apply: (() => void) | undefined
}

/** Kind of the records that are written together: see `Failpoint`. */
type RecordKind = 'commit' | 'truncation' | 'mark'

/** Number of placed records that were written, counted from the first, and the error of the others. */
export interface WrittenRecords {
  readonly count: number
  readonly failure: unknown
}

/**
 * Appends to the WAL files of a writer, and maintains the memtable of their commits. Files are written and synced
 * off the event loop. Callers make such calls one after the other.
 */
export class WalAppender {
  readonly memtable: Memtable
  readonly #store: LmdbStore
  readonly #atFailpoint: AtFailpoint
  readonly #segmentBytes: number
  readonly #bootId = readBootId()
  #active: ActiveFile | undefined
  /** The file that follows once the ledger record names it. */
  #following: { readonly active: ActiveFile; readonly walFile: number; readonly nextCommit: number } | undefined
  /** The segment that was merged last, which nothing reads any more. */
  #merged: Segment | undefined
  #nextCommit: number
  #placed: PlacedRecord[] = []
  /** Error after which nothing can be written any more. */
  #failure: unknown

  /**
   * Makes an appender.
   * @param segmentBytes most bytes of a segment
   */
  constructor(
    store: LmdbStore,
    { memtable, active, nextCommit }: RecoveredWal,
    segmentBytes: number,
    atFailpoint: AtFailpoint,
  ) {
    this.#store = store
    this.#segmentBytes = segmentBytes
    this.#atFailpoint = atFailpoint
    this.memtable = memtable
    this.#active = active
    this.#nextCommit = nextCommit
    active?.segment.reserve(Math.max(0, segmentBytes - active.segment.length))
  }

  /** Segment to which commits go; undefined in a store without commits. */
  get segment(): Segment | undefined {
    return this.#active?.segment
  }

  /** Head that the newest segment will have once all placed records are written; undefined if nothing is placed. */
  get placedHead(): CommitHead | undefined {
    return this.#placed.at(-1)?.head
  }

  /** Number of bytes that are placed and not written. */
  get placedBytes(): number {
    const [first] = this.#placed
    return first ? this.#active!.segment.length - first.before.length : 0
  }

  /**
   * Places a commit after the last one, in steps of a fraction of a millisecond. It is then in the arena and in the
   * index, and no read finds it, because its versions are above the head, until `write` makes it the head.
   * @param most most bytes of its payload
   * @throws `duplicate_key`, `store_missing`, `store_failed`; the commit is then not placed
   */
  *placeCommit(content: Omit<CommitContent, 'number'>, most: number, hasValue: HasValue): Generator<void> {
    const number = this.#nextNumber
    const { segment, before } = this.#beginRecord(most)
    try {
      const head = yield* putCommitInSteps(segment, this.memtable.hash, { ...content, number }, hasValue)
      this.#placed.push({ before, end: this.#endRecord(before.length), head, apply: undefined })
    } catch (error) {
      segment.rollBack(before)
      throw error
    }
  }

  /**
   * Places a truncation to a version that is in the newest segment, or just before it; `write` cuts the segment.
   * @throws `store_missing`, `store_failed`
   */
  placeTruncation(content: Omit<TruncationContent, 'number'>): void {
    const number = this.#nextNumber
    const { segment, before } = this.#beginRecord(truncationLength(content))
    const head = putTruncation(segment, { ...content, number })
    const apply = () => applyTruncation(segment, content.truncation)
    this.#placed.push({ before, end: this.#endRecord(before.length), head, apply })
  }

  /**
   * Places a mark after the last commit; `write` makes it the mark of the segment. @throws `store_missing`,
   * `store_failed`
   */
  placeMark(content: Omit<MarkContent, 'number'>): void {
    const number = this.#nextNumber
    const { segment, before } = this.#beginRecord(payloadLength({ versions: [], mark: content.mark }))
    const head = putMarkPayload(segment, { ...content, number })
    this.#placed.push({ before, end: this.#endRecord(before.length), head, apply: undefined })
  }

  /**
   * Whether a state of LMDB has everything that the memtable does not have any more. A state before the newest may not:
   * `lmdb/last-transaction.ts`. If it is the first one that a bypass made, the memtable changes with it.
   */
  follow(record: LedgerRecord): boolean {
    if (this.#following && record.walFile >= this.#following.walFile) this.#follow()
    return record.walFile >= (this.memtable.segments[0]?.fileNumber ?? 0)
  }

  /** Makes room for a record with a payload of up to `length` bytes. Returns the segment, and its state before. */
  #beginRecord(length: number): { readonly segment: Segment; readonly before: Checkpoint } {
    this.#expectWhole()
    const { file, segment } = this.#active!
    if (this.#placed.length === 0) file.expectInPlace()
    const before = segment.checkpoint()
    segment.reserve(RECORD_HEADER_LENGTH + length)
    segment.length += RECORD_HEADER_LENGTH
    return { segment, before }
  }

  /**
   * Writes the placed records, with one write and one sync for all of them, and waits as the durability says. Then the
   * memtable has them. If it fails, the records before the failure are kept.
   */
  async write(kind: RecordKind): Promise<WrittenRecords> {
    const placed = this.#placed
    if (placed.length === 0) return { count: 0, failure: undefined }
    this.#placed = []
    const { segment } = this.#active!
    const start = placed[0]!.before.length
    try {
      const { end, failure } = await this.#write(start)
      // A reader may have read a whole record already, so it stays.
      const whole = placed.filter((record) => record.end.length <= end)
      const torn = placed[whole.length]
      if (torn) {
        segment.rollBack(torn.before)
        await this.#cut(torn.before.length)
      }
      if (whole.length > 0) await this.#finish(kind, whole)
      return { count: whole.length, failure }
    } catch (error) {
      segment.rollBack(placed[0]!.before)
      return { count: 0, failure: await this.#undo(start, error) }
    }
  }

  /** Waits until written records are as durable as they should be, and adds them to the memtable. */
  async #finish(kind: RecordKind, written: readonly PlacedRecord[]): Promise<void> {
    const active = this.#active!
    const { end, head } = written.at(-1)!
    this.#atFailpoint(`${kind}: appended`)
    if (this.#store.durability === 'full') await this.#sync(end)
    this.#atFailpoint(`${kind}: synced`)
    active.end = end
    for (const { apply } of written) apply?.()
    active.segment.head = head
    this.#nextCommit += written.length
  }

  /**
   * Seals the file and begins the next one. The sealed file is on disk before any of it is merged.
   * @throws `store_full`, `store_failed`
   */
  async rotate(): Promise<void> {
    this.#expectWhole()
    const { file, segment } = this.#active!
    // The header of the next file, and the sealing record, then say that everything before them is on disk.
    if (this.#isDurable) await this.#sync()
    const next = await this.#create(segment.fileNumber + 1, this.#nextCommit, this.#active)
    const start = segment.length
    try {
      this.#atFailpoint('rotation: file created')
      segment.reserve(RECORD_HEADER_LENGTH)
      segment.length = start + RECORD_HEADER_LENGTH
      this.#endRecord(start)
      const { failure } = await this.#write(start)
      if (failure !== undefined) throw failure
      if (this.#isDurable) await this.#syncFile()
      this.#atFailpoint('rotation: sealed')
    } catch (error) {
      segment.length = start
      const failure = await this.#undo(start, error)
      // If the seal may be on disk, the file that it leads to must be, too.
      if (this.#failure) next.file.close()
      else remove(next)
      throw failure
    }
    file.close()
    this.#active = next
    this.memtable.push(next.segment)
  }

  /**
   * Runs work that changes the data file and bypasses these files. The last transaction of the work makes the ledger
   * record name the next file, to which later commits go. The previous files are not needed any more. The work counts as one
   * commit.
   * @param committed reached when the work is done
   * @throws the error of the work; the next file is then removed
   */
  async bypass(committed: Failpoint, work: (following: FollowingFile) => Promise<void>): Promise<void> {
    this.#expectWhole()
    const { path, sync } = this.#store
    await withStoreErrorsAsync(path, () => sync.regainMeta())
    const nextCommit = this.#nextCommit + 1
    const walFile = (this.#active?.segment.fileNumber ?? 0) + 1
    const active = await this.#create(walFile, nextCommit)
    this.#following = { active, walFile, nextCommit }
    try {
      await work({ walFile, nextCommit })
    } catch (error) {
      this.#following = undefined
      active.file.close()
      await this.#removeUnnamed(active.file.path)
      throw error
    }
    try {
      this.#atFailpoint(committed)
    } finally {
      // The ledger record names that file, so the next one must not take its number.
      this.#follow()
    }
    await this.#tryRemoveObsolete()
  }

  /** Removes a file after the transaction that was to name it failed, unless the transaction may be on disk after all. */
  async #removeUnnamed(path: string): Promise<void> {
    try {
      await this.#store.sync.regainMeta()
      rmSync(path, { force: true })
    } catch {
      // The file has no commits. The next one with its number replaces it, as does the next opener.
    }
  }

  /** Has the file follow, unless a read has done it already. */
  #follow(): void {
    if (!this.#following) return
    const { active, walFile, nextCommit } = this.#following
    this.#following = undefined
    const before = this.#active
    this.#active = active
    this.#nextCommit = nextCommit
    this.memtable.push(active.segment)
    before?.file.close()
    this.memtable.dropBelow(walFile)
  }

  /**
   * Forgets the files below a number, which are merged, and removes them. Resolves when they are removed.
   * @param forgetReads ends the reads under way, because the next segment overwrites the memory that they use
   */
  async dropBelow(fileNumber: number, forgetReads: () => void): Promise<void> {
    const merged = this.memtable.segments.findLast((segment) => segment.fileNumber < fileNumber)
    this.memtable.dropBelow(fileNumber)
    forgetReads()
    this.#merged = merged
    await this.#tryRemoveObsolete()
  }

  /** Removes the files below the oldest one of the memtable, the oldest first. @throws `store_failed` */
  async removeObsolete(): Promise<void> {
    const { path } = this.#store
    const oldest = this.memtable.segments[0]?.fileNumber ?? 0
    await withStoreErrorsAsync(path, async () => {
      for (const number of listWalFiles(path)) if (number < oldest) await rm(walFilePath(path, number), { force: true })
    })
  }

  /** Calls `removeObsolete`. Files that cannot be removed now stay until the next call. */
  async #tryRemoveObsolete(): Promise<void> {
    await this.removeObsolete().catch(() => {})
  }

  /** Resolves when all commits are on disk. @throws `store_failed` */
  async sync(): Promise<void> {
    this.#expectWhole()
    const active = this.#active
    if (!active) return
    if (this.#isDurable) await this.#sync()
    else {
      // No file was synced when it was created or sealed, nor was its name.
      const { path } = this.#store
      try {
        for (const { fileNumber } of this.memtable.segments) await syncFile(walFilePath(path, fileNumber))
        await syncFolder(path)
      } catch (failure) {
        throw this.#break(failure)
      }
      active.synced = active.end
    }
  }

  /**
   * Resolves to the end of the newest file, once all of it is on disk; to undefined in a store without commits, or
   * after a failure.
   * @throws `store_failed`
   */
  async syncEnd(): Promise<LogFilePosition | undefined> {
    if (!this.#active || this.#failure) return undefined
    if (this.#isDurable) await this.#sync()
    return { fileNumber: this.#active.segment.fileNumber, ...this.#active.end }
  }

  close(): void {
    this.#active?.file.close()
    this.#active = undefined
  }

  /** Memory of the segment that was merged last, or new memory. */
  #takeMemory(): SegmentMemory {
    const merged = this.#merged
    this.#merged = undefined
    const most = MOST_REUSED * this.#segmentBytes
    return merged && merged.bytes.length <= most ? merged.takeMemory() : allocateSegment(this.#segmentBytes)
  }

  get #isDurable(): boolean {
    return this.#store.durability !== 'none'
  }

  #create(fileNumber: number, firstCommit: number, before?: ActiveFile): Promise<ActiveFile> {
    const { path, storeId } = this.#store
    return withStoreErrorsAsync(path, async () => {
      const header = { storeId, fileNumber, firstCommit, before: before?.end ?? NO_POSITION }
      const bytes = encodeEmptyFile(header, this.#bootId)
      const start = startPosition(bytes, firstCommit)
      const marked = { ...start, bootId: this.#bootId }
      const file = await AppendFile.create(path, fileNumber, bytes, this.#isDurable)
      const segment = new Segment(fileNumber, this.memtable.hash, this.#takeMemory())
      segment.reserve(bytes.length)
      bytes.copy(segment.bytes)
      segment.length = bytes.length
      return { file, segment, end: start, synced: start, marked, nextMark: 1 }
    })
  }

  get #nextNumber(): number {
    return this.#nextCommit + this.#placed.length
  }

  /** Completes the last record of the arena. Returns its end. */
  #endRecord(start: number): LogPosition {
    const { segment, synced, end } = this.#active!
    const number = this.#nextNumber
    const seed = recordSeed(this.#store.storeId, segment.fileNumber)
    const header = { number, synced: synced.length, before: (this.#placed.at(-1)?.end ?? end).checksum }
    const checksum = putRecordHeader(segment.bytes, start, segment.length, header, seed)
    return { length: segment.length, nextCommit: number + 1, checksum }
  }

  /** Writes the arena, starting at an offset. */
  async #write(start: number): Promise<Written> {
    const { file, segment, synced, marked } = this.#active!
    const { path } = this.#store
    try {
      // Before any record, because a whole record cannot be cut off any more, as a reader may have read it. The next
      // sync covers the sync mark.
      if (marked?.length !== synced.length || marked.bootId !== this.#bootId) await this.#mark(synced)
    } catch (failure) {
      return { end: start, failure: toStoreError(path, failure) }
    }
    const { end, failure } = await file.write(segment.bytes, start, segment.length)
    return { end, failure: failure === undefined ? undefined : toStoreError(path, failure) }
  }

  /**
   * Writes a sync mark of the position up to which the file is synced. The file is synced between two of them, so one of them
   * can always be read.
   */
  async #mark(position: LogPosition): Promise<void> {
    const active = this.#active!
    const seed = recordSeed(this.#store.storeId, active.segment.fileNumber)
    const mark = { ...position, bootId: this.#bootId }
    await active.file.overwrite(encodeSyncMark(mark, seed), syncMarkOffset(active.nextMark))
    active.marked = mark
    active.nextMark++
  }

  /** Syncs the file up to a position, which is its end. */
  async #sync(end = this.#active!.end): Promise<void> {
    const active = this.#active!
    if (active.synced.length === end.length) return
    await this.#syncFile()
    active.synced = end
  }

  async #syncFile(): Promise<void> {
    try {
      await this.#active!.file.sync()
    } catch (failure) {
      // The content of the disk is unknown now, and a second sync would not show it.
      throw this.#break(failure)
    }
  }

  /**
   * Cuts off the written part of records that failed. Returns their error, or, if the content of the disk is unknown,
   * an error that says so.
   */
  async #undo(start: number, cause: unknown): Promise<unknown> {
    if (this.#failure) return this.#failure
    const active = this.#active!
    if (active.synced.length > start) active.synced = active.end
    try {
      await this.#cut(start)
      return cause
    } catch (failure) {
      return failure
    }
  }

  async #cut(length: number): Promise<void> {
    try {
      await this.#active!.file.truncate(length)
    } catch (failure) {
      throw this.#break(failure)
    }
  }

  #break(cause: unknown): unknown {
    this.#failure = storeFailedErrors.writerBroken(cause)
    return this.#failure
  }

  #expectWhole(): void {
    if (this.#failure) throw this.#failure
  }
}

function remove({ file }: ActiveFile): void {
  file.close()
  removeIfPossible(file.path)
}
