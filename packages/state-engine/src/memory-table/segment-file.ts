import { closeSync, fstatSync, openSync, readSync } from 'node:fs'
import type { BlockInfo } from '@ledger-state/core'
import { writeAheadDamaged } from '../port/errors.js'
import {
  expectFileHeader,
  FILE_HEADER_LENGTH,
  hasWholePayload,
  isSyncedBeyond,
  RECORD_HEADER_LENGTH,
  type RecordHeader,
  readRecordHeader,
  recordSeed,
} from '../write-ahead/file-format.js'
import { writeAheadPath } from '../write-ahead/files.js'
import { indexCommit } from './index-commit.js'
import type { KeyHash } from './key-hash.js'
import { Segment } from './segment.js'

/** More than a writer ever writes: 2 GiB. */
const MAX_FILE_LENGTH = 2 ** 31

export interface SegmentFileOptions {
  readonly folder: string
  readonly storeId: bigint
  readonly fileNumber: number
  /** The number that the first commit of the file should have. */
  readonly firstCommit: number
  /** The newest block before it. */
  readonly blockBefore: BlockInfo | undefined
}

/** Reads a write-ahead file into a segment, and what is appended to it later. */
export class SegmentFile {
  readonly path: string
  readonly segment: Segment
  readonly #hash: KeyHash
  readonly #descriptor: number
  readonly #seed: number
  readonly #blockBefore: BlockInfo | undefined
  #nextCommit: number
  #synced = 0
  #isSealed = false

  /** Reads nothing but the header. Throws what the system says, such as ENOENT. @throws `store_corrupt` */
  constructor({ folder, storeId, fileNumber, firstCommit, blockBefore }: SegmentFileOptions, hash: KeyHash) {
    this.path = writeAheadPath(folder, fileNumber)
    this.segment = new Segment(fileNumber, hash)
    this.#hash = hash
    this.#seed = recordSeed(storeId, fileNumber)
    this.#blockBefore = blockBefore
    this.#nextCommit = firstCommit
    this.#descriptor = openSync(this.path, 'r')
    try {
      const length = this.#load(FILE_HEADER_LENGTH)
      const header = this.segment.bytes.subarray(0, Math.min(length, FILE_HEADER_LENGTH))
      expectFileHeader(header, this.path, { storeId, fileNumber, firstCommit })
      this.segment.length = FILE_HEADER_LENGTH
    } catch (error) {
      this.close()
      throw error
    }
  }

  /** Whether the file is complete. */
  get isSealed(): boolean {
    return this.#isSealed
  }

  /** The number of the commit after those that were read. */
  get nextCommit(): number {
    return this.#nextCommit
  }

  /** Up to where the file is known to be synced, and at most what was read. */
  get synced(): number {
    return this.#synced
  }

  get size(): number {
    return fstatSync(this.#descriptor).size
  }

  /** Indexes the commits that were appended, as far as they are complete. */
  read(): void {
    if (this.#isSealed || this.size <= this.segment.length) return
    const end = this.#load(this.size)
    for (let header = this.#nextRecord(end); header && !this.#isSealed; header = this.#nextRecord(end)) {
      this.#index(header)
    }
  }

  /** @throws `store_corrupt` unless what follows may be the end of a file that was being written */
  expectTornEnd(): void {
    const { segment } = this
    const at = segment.length
    const end = this.#load(this.size)
    if (isSyncedBeyond(segment.bytes, at, end, this.#nextCommit, this.#seed)) {
      throw writeAheadDamaged(this.path, at, `commit ${this.#nextCommit} is damaged, and later ones follow`)
    }
  }

  /**
   * No commit is made before a merged truncation is finished, and then another file is begun.
   * @throws `store_corrupt` unless the file has none, as far as it was read
   */
  expectNoCommits(): void {
    if (this.segment.length <= FILE_HEADER_LENGTH) return
    const why = 'it has commits, but the data file is in the middle of a truncation before them'
    throw writeAheadDamaged(this.path, FILE_HEADER_LENGTH, why)
  }

  close(): void {
    closeSync(this.#descriptor)
  }

  /** Reads the file up to an offset into the arena, after what is used of it. Returns how far it came. */
  #load(end: number): number {
    const { segment } = this
    if (end > MAX_FILE_LENGTH) throw writeAheadDamaged(this.path, MAX_FILE_LENGTH, 'the file is too long')
    segment.reserve(end - segment.length)
    for (let at = segment.length; ; ) {
      const count = at < end ? readSync(this.#descriptor, segment.bytes, at, end - at, at) : 0
      if (count === 0) return at
      at += count
    }
  }

  /** Undefined if the next record is not there, or not complete. */
  #nextRecord(end: number): RecordHeader | undefined {
    const { bytes, length } = this.segment
    const header = readRecordHeader(bytes, length, end, this.#seed)
    return header && hasWholePayload(bytes, length, end, header) ? header : undefined
  }

  #index({ number, payloadLength, synced }: RecordHeader): void {
    const { segment } = this
    const start = segment.length + RECORD_HEADER_LENGTH
    if (number !== this.#nextCommit) {
      throw writeAheadDamaged(this.path, segment.length, `commit ${number} instead of ${this.#nextCommit}`)
    }
    this.#synced = synced
    segment.length = start + payloadLength
    if (payloadLength === 0) {
      this.#isSealed = true
      return
    }
    const blockBefore = segment.head?.latestBlock ?? this.#blockBefore
    segment.head = indexCommit(segment, this.#hash, number, start, segment.length, blockBefore)
    this.#nextCommit++
  }
}
