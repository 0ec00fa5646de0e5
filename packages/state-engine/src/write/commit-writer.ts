import { setImmediate as nextTurn } from 'node:timers/promises'
import { atOnce, type VersionWrites } from '@ledger-state/core'
import type { CommitOptions, LedgerSummary } from '@ledger-state/engine'
import { expectLedger, expectMark, validateBatch } from '@ledger-state/engine/authoring'
import { filesOfFlush, flushSegment, putFlushed } from '../compaction/flush-segment.js'
import { runInTurns } from '../compaction/run-in-turns.js'
import { syncSegments, unsyncedFiles } from '../compaction/write-segments.js'
import { invalidArgumentErrors } from '../errors.js'
import { withStoreErrorsAsync } from '../lmdb/store-errors.js'
import { NONE, Segment } from '../memtable/segment.js'
import { NO_SLICES, newestInSlices } from '../read/segment-slices.js'
import { SegmentMatch } from '../segments/block-search.js'
import { ABSENT, PRESENT } from '../segments/found.js'
import { createKeyProbe, type KeyProbe } from '../segments/key-filter.js'
import type { FollowingFile } from '../wal/appender.js'
import { type CommitContent, commitSize, payloadLength, putCommitInSteps } from '../wal/put-payload.js'
import { dropUnfinishedImport } from './import-state.js'
import type { WriterParts } from './writer-parts.js'

type NewCommit = Omit<CommitContent, 'number'>

/** Time for which commits are placed before other work of the process takes place. */
const PLACING_MS = 1
/** Bytes up to which commits share a write and a sync, so that the first does not wait for too many others. */
const SHARED_BYTES = 2 ** 20

/** Most bytes of the payload of a commit: entries have offsets of 32 bits. */
const MOST_PAYLOAD_BYTES = 2 ** 32 - 1

/** A commit with the promise that its caller awaits. */
export interface WaitingCommit {
  readonly versions: readonly VersionWrites[]
  readonly options: CommitOptions
  resolve(): void
  reject(error: unknown): void
}

/** Commits to the memtable and its WAL file, and starts writing full segments into files. */
export class CommitWriter {
  readonly #parts: WriterParts
  readonly #segmentBytes: number
  readonly #probe: KeyProbe
  readonly #match = new SegmentMatch()
  /** Commits that are placed in the WAL file and not written to it. */
  #placed: WaitingCommit[] = []

  /**
   * Makes a writer.
   * @param segmentBytes most bytes of a segment
   */
  constructor(parts: WriterParts, segmentBytes: number) {
    this.#parts = parts
    this.#segmentBytes = segmentBytes
    this.#probe = createKeyProbe(parts.store)
  }

  /**
   * Makes commits in their order. Those that go to the memtable share a write and a sync. Each succeeds or fails by
   * itself.
   */
  async commit(waiting: readonly WaitingCommit[]): Promise<void> {
    for (const one of waiting) {
      try {
        await this.#take(one)
      } catch (error) {
        one.reject(error)
      }
    }
    // Those that were not made get the error.
    await this.#write().catch(() => {})
  }

  /** Replaces the mark. @throws as `StateWriter.putMark` */
  async putMark(mark: Uint8Array): Promise<void> {
    const { store, log, reads, expectOpen } = this.#parts
    expectMark(mark)
    expectOpen()
    const { ledger } = reads.snapshot()
    expectLedger(ledger)
    store.expectInPlace()
    // A store with a ledger has a segment.
    await this.#makeRoom(log.segment!, commitSize({ versions: [], mark }))
    const { chainId, latestVersion, latestBlock } = ledger
    log.placeMark({ chainId, latestVersion, latestBlock, mark })
    const { count, failure } = await log.write('mark')
    if (count === 0) throw failure
    reads.noticeCommit()
  }

  /** Merges all commits so far. */
  async mergeAll(): Promise<void> {
    if (this.#parts.log.segment?.head) await this.#rotate()
    await this.#parts.merges.settled()
    this.#parts.expectOpen()
  }

  /** Places a commit, or makes it in bulk. @throws as `StateWriter.commit` */
  async #take(waiting: WaitingCommit): Promise<void> {
    const { store, log, atFailpoint, expectOpen } = this.#parts
    const { versions, options } = waiting
    expectOpen()
    const ledger = this.#placedLedger()
    const chainId = validateBatch(versions, options, ledger)
    if (versions.length > 0) {
      if (this.#placed.length === 0) store.expectInPlace()
      atFailpoint('commit: began')
      const content = { chainId, versions, mark: options.mark, blockBefore: ledger?.latestBlock }
      const size = commitSize(content)
      const { segment } = log
      if (size > MOST_PAYLOAD_BYTES) expectOffsets(content)
      if (segment && size <= this.#segmentBytes) {
        await this.#place(segment, content, size)
        this.#placed.push(waiting)
        if (log.placedBytes >= SHARED_BYTES) await this.#write()
        return
      }
      await this.#write()
      await this.#commitInBulk(content, ledger)
      this.#made()
    } else await this.#write()
    waiting.resolve()
  }

  /** The ledger after all placed commits. */
  #placedLedger(): LedgerSummary | undefined {
    const { log, reads } = this.#parts
    const { ledger } = reads.snapshot()
    const head = log.placedHead
    return head && ledger ? { ...ledger, latestVersion: head.latestVersion, latestBlock: head.latestBlock } : ledger
  }

  async #place(segment: Segment, content: NewCommit, size: number): Promise<void> {
    await this.#makeRoom(segment, size)
    const steps = this.#parts.log.placeCommit(content, size, (key, hash) => this.#hasValue(key, hash))
    for (let turnEnd = performance.now() + PLACING_MS; !steps.next().done; ) {
      if (performance.now() < turnEnd) continue
      await nextTurn()
      turnEnd = performance.now() + PLACING_MS
    }
  }

  /** Begins the next segment if the newest is too full for a record of this size, or waits for merges. */
  async #makeRoom(segment: Segment, size: number): Promise<void> {
    const { log, expectOpen } = this.#parts
    const filled = segment.byteSize + size
    const isFull = (segment.head ?? log.placedHead) !== undefined && filled > this.#segmentBytes
    const share = filled / this.#segmentBytes
    if (isFull || this.#parts.merges.isBehind(share) || this.#parts.merges.levels.isBehind(size)) await this.#write()
    await this.#parts.merges.levels.keepPace(size)
    if (isFull) await this.#rotate()
    else await this.#parts.merges.keepPace(share)
    expectOpen()
  }

  /**
   * Writes the placed commits, and settles them.
   * @throws the error of those that were not made: a commit that was to follow them cannot be made either
   */
  async #write(): Promise<void> {
    const placed = this.#placed
    if (placed.length === 0) return
    this.#placed = []
    const { count, failure } = await this.#parts.log.write('commit')
    if (count > 0) this.#parts.reads.noticeCommit()
    for (const [place, waiting] of placed.entries()) {
      try {
        if (place >= count) throw failure
        this.#made()
        waiting.resolve()
      } catch (error) {
        waiting.reject(error)
      }
    }
    if (failure !== undefined) throw failure
  }

  #made(): void {
    const { atFailpoint, onChange } = this.#parts
    atFailpoint('commit: done')
    onChange()
  }

  /** Writes a commit into segment files at once: the first of a store, or one that is larger than a segment. */
  async #commitInBulk(content: NewCommit, ledger: LedgerSummary | undefined): Promise<void> {
    const { log, transactions, atFailpoint } = this.#parts
    await this.#parts.merges.levels.keepPace(payloadLength(content))
    this.#parts.expectOpen()
    if (log.segment) await this.mergeAll()
    const mergeAtOnce = async ({ walFile, nextCommit }: FollowingFile) => {
      atFailpoint('bulk: file created')
      const { hash } = log.memtable
      const segment = new Segment(0, hash)
      segment.reserve(payloadLength(content))
      const commit = { ...content, number: nextCommit - 1 }
      segment.head = atOnce(putCommitInSteps(segment, hash, commit, (key) => this.#isInFiles(key)))
      await this.#flushAtOnce(segment, walFile, ledger)
    }
    await transactions.inTurn(() => log.bypass('bulk: committed', mergeAtOnce))
  }

  /** Writes a segment into files, and makes it a part of the store. */
  async #flushAtOnce(segment: Segment, walFile: number, ledger: LedgerSummary | undefined): Promise<void> {
    const { store, builder, numbers, transactions, importFiles, atFailpoint } = this.#parts
    const file = numbers.take(filesOfFlush(segment))
    const rows = await withStoreErrorsAsync(store.path, () =>
      runInTurns(flushSegment(unsyncedFiles(store), segment, file)),
    )
    await syncSegments(store, rows)
    // If the transaction fails, the files stay: it may be on disk anyway. The next writer removes files that no row
    // names.
    await transactions.runInTurn(transactions.ofLog, () => {
      if (!ledger) dropUnfinishedImport(store)
      putFlushed(store, builder, segment, rows, walFile)
      atFailpoint('bulk: before the transaction ends')
    })
    if (!ledger) importFiles.keep(NO_SLICES)
    this.#parts.merges.levels.start()
  }

  /** Begins the next segment. At most one sealed segment waits to be merged. */
  async #rotate(): Promise<void> {
    await this.#parts.merges.settled()
    this.#parts.expectOpen()
    await this.#parts.log.rotate()
    this.#parts.merges.start()
  }

  /** Whether a key that the newest segment does not have has a value, or may have one in an earlier part of the ledger. */
  #hasValue(key: Uint8Array, hash: number): boolean {
    for (const segment of this.#parts.log.memtable.segments.slice(0, -1).reverse()) {
      const entry = segment.newest(key, hash)
      if (entry !== NONE) return !segment.isDeletion(entry)
    }
    return this.#isInFiles(key)
  }

  #isInFiles(key: Uint8Array): boolean {
    const { slices } = this.#parts.reads.snapshot()
    const found = slices.length > 0 ? newestInSlices(slices, this.#probe.take(key), this.#match) : ABSENT
    return found === PRESENT || (found === ABSENT && this.#parts.isPart)
  }
}

/** @throws `invalid_argument` for a payload in which an offset would have more than 32 bits */
function expectOffsets(content: NewCommit): void {
  const length = payloadLength(content)
  if (length > MOST_PAYLOAD_BYTES) throw invalidArgumentErrors.commitTooLong(length, MOST_PAYLOAD_BYTES)
}
