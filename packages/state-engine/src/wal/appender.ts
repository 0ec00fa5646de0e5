import { rmSync } from 'node:fs'
import { rm } from 'node:fs/promises'
import { writerBroken } from '../errors.js'
import type { AtFailpoint, Failpoint } from '../failpoints/failpoints.js'
import { type LmdbStore, withStoreErrors } from '../lmdb/lmdb-store.js'
import type { Memtable } from '../memtable/memtable.js'
import { Segment } from '../memtable/segment.js'
import { type LogFilePosition, type LogPosition, NO_POSITION } from '../records/log-position.js'
import { AppendFile, listWriteAheadFiles, writeAheadPath } from './append-file.js'
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
  payloadLength,
  putCommit,
  putTruncation,
  type TruncationContent,
  truncationLength,
} from './put-payload.js'
import { putRecordHeader, RECORD_HEADER_LENGTH } from './record.js'

/** The file that commits are appended to. */
export interface ActiveFile {
  readonly file: AppendFile
  readonly segment: Segment
  /** The end of its commits. */
  end: LogPosition
  /** Up to where it is synced. */
  synced: LogPosition
  /** The newest mark in the file; undefined if there is none that can be read. */
  marked: SyncMark | undefined
  /** The place of the next mark. */
  nextMark: number
}

export interface RecoveredWal {
  readonly table: Memtable
  /** Its segment is the last of the table. Undefined in a store without commits. */
  readonly active: ActiveFile | undefined
  readonly nextCommit: number
}

/** The next write-ahead file, opened by a change of the data file that bypasses the files: the ledger record names it. */
export interface FollowingFile {
  readonly walFile: number
  /** The number of its first commit. */
  readonly nextCommit: number
}

/** The write-ahead files of a writer, and the table of their commits. */
export class WalAppender {
  readonly table: Memtable
  readonly #store: LmdbStore
  readonly #atFailpoint: AtFailpoint
  readonly #segmentBytes: number
  readonly #bootId = readBootId()
  #active: ActiveFile | undefined
  #nextCommit: number
  /** Why nothing can be written any more. */
  #failure: unknown

  /** @param segmentBytes the most that a segment is to have */
  constructor(
    store: LmdbStore,
    { table, active, nextCommit }: RecoveredWal,
    segmentBytes: number,
    atFailpoint: AtFailpoint,
  ) {
    this.#store = store
    this.#segmentBytes = segmentBytes
    this.#atFailpoint = atFailpoint
    this.table = table
    this.#active = active
    this.#nextCommit = nextCommit
    active?.segment.reserve(Math.max(0, segmentBytes - active.segment.length))
  }

  /** The segment that commits go to; undefined in a store without commits. */
  get segment(): Segment | undefined {
    return this.#active?.segment
  }

  /**
   * Appends a commit, waits as the durability says, and only then indexes it as the head of the table.
   * @throws `duplicate_key`, `store_missing`, `store_full`, `store_failed`
   */
  append(content: Omit<CommitContent, 'number'>, hasValue: HasValue): void {
    this.#expectWhole()
    const { file, segment } = this.#active!
    file.expectInPlace()
    const start = segment.length
    const before = segment.checkpoint()
    segment.reserve(RECORD_HEADER_LENGTH + payloadLength(content))
    try {
      segment.length = start + RECORD_HEADER_LENGTH
      const head = putCommit(segment, this.table.hash, { ...content, number: this.#nextCommit }, hasValue)
      const end = this.#write(start)
      this.#atFailpoint('commit: appended')
      if (this.#store.durability === 'full') this.#sync(end)
      this.#atFailpoint('commit: synced')
      this.#active!.end = end
      segment.head = head
      this.#nextCommit++
    } catch (error) {
      segment.rollBack(before)
      this.#undo(start)
      throw error
    }
  }

  /**
   * Appends a truncation to a version that the newest segment has or begins after, waits as the durability says, and only
   * then cuts the segment.
   * @throws `store_missing`, `store_full`, `store_failed`
   */
  truncate(content: Omit<TruncationContent, 'number'>): void {
    this.#expectWhole()
    const { file, segment } = this.#active!
    file.expectInPlace()
    const start = segment.length
    segment.reserve(RECORD_HEADER_LENGTH + truncationLength(content))
    try {
      segment.length = start + RECORD_HEADER_LENGTH
      const head = putTruncation(segment, { ...content, number: this.#nextCommit })
      const end = this.#write(start)
      this.#atFailpoint('truncation: appended')
      if (this.#store.durability === 'full') this.#sync(end)
      this.#atFailpoint('truncation: synced')
      this.#active!.end = end
      applyTruncation(segment, content.truncation)
      segment.head = head
      this.#nextCommit++
    } catch (error) {
      segment.length = start
      this.#undo(start)
      throw error
    }
  }

  /**
   * Seals the file and begins the next one. The sealed file is on disk before any of it is merged.
   * @throws `store_full`, `store_failed`
   */
  rotate(): void {
    this.#expectWhole()
    const { file, segment } = this.#active!
    // The header of the next file, and the sealing record, then say that all before it is on disk.
    if (this.#isDurable) this.#sync()
    const next = this.#create(segment.fileNumber + 1, this.#nextCommit, this.#active)
    const start = segment.length
    try {
      this.#atFailpoint('rotation: file created')
      segment.reserve(RECORD_HEADER_LENGTH)
      segment.length = start + RECORD_HEADER_LENGTH
      this.#write(start)
      if (this.#isDurable) this.#syncFile()
      this.#atFailpoint('rotation: sealed')
    } catch (error) {
      segment.length = start
      this.#undo(start)
      remove(next)
      throw error
    }
    file.close()
    this.#active = next
    this.table.push(next.segment)
  }

  /**
   * Runs work that changes the data file without these files. Its last transaction makes the ledger record name the next
   * file, to which commits go from then on; the files before are not needed any more.
   * @param commits how many commits the work counts as
   * @param committed reached when the work is done
   * @throws what the work throws: then the next file is removed
   */
  bypass(commits: 0 | 1, committed: Failpoint, work: (following: FollowingFile) => void): void {
    this.#expectWhole()
    const nextCommit = this.#nextCommit + commits
    const walFile = (this.#active?.segment.fileNumber ?? 0) + 1
    const active = this.#create(walFile, nextCommit)
    try {
      work({ walFile, nextCommit })
    } catch (error) {
      remove(active)
      throw error
    }
    try {
      this.#atFailpoint(committed)
    } finally {
      // The ledger record names that file: the next one must not take its number.
      this.#follow(active, walFile, nextCommit)
    }
  }

  #follow(active: ActiveFile, walFile: number, nextCommit: number): void {
    const before = this.#active
    this.#active = active
    this.#nextCommit = nextCommit
    this.table.push(active.segment)
    before?.file.close()
    this.table.dropBelow(walFile)
    for (const file of this.#filesBelow(walFile)) rmSync(file, { force: true })
  }

  /** Forgets the files below a number, which are merged, and removes them. Resolves when they are removed. */
  async dropBelow(fileNumber: number): Promise<void> {
    this.table.dropBelow(fileNumber)
    for (const file of this.#filesBelow(fileNumber)) await rm(file, { force: true })
  }

  /** Their paths, the oldest first. */
  #filesBelow(fileNumber: number): string[] {
    const { path } = this.#store
    const numbers = listWriteAheadFiles(path).filter((number) => number < fileNumber)
    return numbers.map((number) => writeAheadPath(path, number))
  }

  /** Returns when all commits are on disk. @throws `store_failed` */
  sync(): void {
    this.#expectWhole()
    if (this.#active) this.#sync()
  }

  /**
   * The end of the newest file, once all of it is on disk; undefined in a store without commits, or after a failure.
   * @throws `store_failed`
   */
  syncEnd(): LogFilePosition | undefined {
    if (!this.#active || this.#failure) return undefined
    if (this.#isDurable) this.#sync()
    return { fileNumber: this.#active.segment.fileNumber, ...this.#active.end }
  }

  close(): void {
    this.#active?.file.close()
    this.#active = undefined
  }

  get #isDurable(): boolean {
    return this.#store.durability !== 'none'
  }

  #create(fileNumber: number, firstCommit: number, before?: ActiveFile): ActiveFile {
    const { path, storeId } = this.#store
    return withStoreErrors(path, () => {
      const header = { storeId, fileNumber, firstCommit, before: before?.end ?? NO_POSITION }
      const bytes = encodeEmptyFile(header, this.#bootId)
      const start = startPosition(bytes, firstCommit)
      const marked = { ...start, bootId: this.#bootId }
      const file = AppendFile.create(path, fileNumber, bytes, this.#isDurable)
      const segment = new Segment(fileNumber, this.table.hash, before?.segment)
      segment.makeRoomFor(Math.max(this.#segmentBytes, bytes.length))
      bytes.copy(segment.bytes)
      segment.length = bytes.length
      return { file, segment, end: start, synced: start, marked, nextMark: 1 }
    })
  }

  /** Completes the last record of the arena, and writes it. Returns its end. */
  #write(start: number): LogPosition {
    const { file, segment, synced, marked, end } = this.#active!
    const { path, storeId } = this.#store
    const number = this.#nextCommit
    return withStoreErrors(path, () => {
      // The next sync takes the mark along.
      if (marked?.length !== synced.length || marked.bootId !== this.#bootId) this.#mark(synced)
      const seed = recordSeed(storeId, segment.fileNumber)
      const header = { number, synced: synced.length, before: end.checksum }
      const checksum = putRecordHeader(segment.bytes, start, segment.length, header, seed)
      file.write(segment.bytes, start, segment.length)
      return { length: segment.length, nextCommit: number + 1, checksum }
    })
  }

  /** Says in the file up to where it is synced. Between two marks the file is synced, so one of them can always be read. */
  #mark(position: LogPosition): void {
    const active = this.#active!
    const seed = recordSeed(this.#store.storeId, active.segment.fileNumber)
    const mark = { ...position, bootId: this.#bootId }
    active.file.overwrite(encodeSyncMark(mark, seed), syncMarkOffset(active.nextMark))
    active.marked = mark
    active.nextMark++
  }

  /** Syncs the file up to a position, which is its end. */
  #sync(end = this.#active!.end): void {
    const active = this.#active!
    if (active.synced.length === end.length) return
    this.#syncFile()
    active.synced = end
  }

  #syncFile(): void {
    try {
      this.#active!.file.sync()
    } catch (failure) {
      // What is on the disk now is not known, and a second sync would not show it.
      throw this.#break(failure)
    }
  }

  /** Cuts off what was written of a record. */
  #undo(start: number): void {
    if (this.#failure) throw this.#failure
    const active = this.#active!
    if (active.synced.length > start) active.synced = active.end
    try {
      active.file.truncate(start)
    } catch (failure) {
      throw this.#break(failure)
    }
  }

  #break(cause: unknown): unknown {
    this.#failure = writerBroken(cause)
    return this.#failure
  }

  #expectWhole(): void {
    if (this.#failure) throw this.#failure
  }
}

function remove({ file }: ActiveFile): void {
  file.close()
  rmSync(file.path, { force: true })
}
