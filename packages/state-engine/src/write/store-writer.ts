import { setImmediate as nextTurn } from 'node:timers/promises'
import { isLedgerStateError, type VersionWrites } from '@ledger-state/core'
import {
  type Block,
  type CommitOptions,
  type ImportOptions,
  type LedgerInfo,
  noLedger,
  type PruneOptions,
  type PruneResult,
  type StateImport,
  type TruncateOptions,
} from '@ledger-state/engine'
import {
  expectCount,
  expectKept,
  expectObject,
  nextTruncation,
  storeClosed,
  validateBatch,
  validateTruncation,
  windowStart,
} from '@ledger-state/engine/authoring'
import { RecordBuilder } from '../bytes/record.js'
import { DELETED } from '../databases/latest-record.js'
import type { LedgerRecord } from '../databases/ledger-record.js'
import { getReverting } from '../databases/truncations.js'
import type { AtFailurePoint, FailurePoint } from '../failpoints/failure-points.js'
import type { Durability } from '../lmdb/durability.js'
import { type LmdbStore, withStoreErrors } from '../lmdb/lmdb-store.js'
import { SharedRecord } from '../lmdb/shared-record.js'
import type { ReadOptions } from '../lmdb/table.js'
import { runTransaction } from '../lmdb/write-transaction.js'
import { type CommitContent, commitSize, payloadLength, putCommit } from '../memory-table/put-commit.js'
import { NONE, Segment } from '../memory-table/segment.js'
import { MergeScheduler, SLICE_MS } from '../merge/merge-scheduler.js'
import { SegmentMerge } from '../merge/merge-segment.js'
import { MergedRevert } from '../merge/revert-merged.js'
import type { LogFilePosition } from '../write-ahead/file-format.js'
import { CommitLog, type FollowingFile } from './commit-log.js'
import { beginImport, dropUnfinishedImport } from './import-state.js'
import { isSameEnd, putLogEnd } from './log-end.js'
import { pruneStep, raiseOldest } from './prune-store.js'
import { recoverLog } from './recover-log.js'
import { type MergedTruncation, truncateMerged } from './truncate-store.js'

/** What a writer needs of the reading half of its engine. */
export interface WriterReads {
  snapshot(): {
    readonly options: ReadOptions
    readonly record: LedgerRecord | undefined
    readonly ledger: LedgerInfo | undefined
  }
  blockAt(version: bigint): Block
  /** The table has another commit. */
  noticeCommit(): void
  /** LMDB has another state. */
  forgetSnapshot(): void
}

export interface StoreWriterParts {
  /** The most that a segment may have. */
  readonly segmentBytes: number
  /** Called after each change. */
  readonly onChange: () => void
  readonly atFailurePoint: AtFailurePoint
}

/** The writing half of an engine. */
export class StoreWriter {
  readonly #store: LmdbStore
  readonly #reads: WriterReads
  readonly #log: CommitLog
  readonly #segmentBytes: number
  readonly #builder = new RecordBuilder()
  readonly #latest = new SharedRecord()
  readonly #merges: MergeScheduler
  readonly #onChange: () => void
  readonly #atFailurePoint: AtFailurePoint
  /** Commits and what else must not mix with them run in turn; undefined while none does. */
  #turn: Promise<unknown> | undefined
  #following: FollowingFile | undefined
  /** Whether LMDB has versions that were cut off: no commit begins until they are removed. */
  #isReverting: boolean
  #isClosed = false

  /** Takes the log of `openLog`. */
  constructor(store: LmdbStore, reads: WriterReads, log: CommitLog, parts: StoreWriterParts) {
    const { segmentBytes, onChange, atFailurePoint } = parts
    this.#store = store
    this.#reads = reads
    this.#log = log
    this.#segmentBytes = segmentBytes
    this.#onChange = onChange
    this.#atFailurePoint = atFailurePoint
    this.#merges = new MergeScheduler({
      store,
      builder: this.#builder,
      table: log.table,
      transact: (slice) => this.#mergeSlice(slice),
      syncStore: async () => {
        if (store.durability !== 'none') await this.#syncStore()
      },
      onMerged: (fileNumber) => this.#dropMerged(fileNumber),
    })
    this.#merges.start()
    // A writer before was killed before it had removed them.
    this.#isReverting = getReverting(store) !== undefined
    this.#revertInTurn()
  }

  commit(versions: readonly VersionWrites[], options: CommitOptions): Promise<void> {
    return this.#inTurn(() => this.#commit(versions, options))
  }

  async #commit(versions: readonly VersionWrites[], options: CommitOptions): Promise<void> {
    if (this.#isReverting) await this.#revert()
    const { ledger } = this.#reads.snapshot()
    const chainId = validateBatch(versions, options, ledger)
    if (versions.length === 0) return
    this.#store.expectInPlace()
    this.#atFailurePoint('commit: began')
    const content = { chainId, versions, mark: options.mark, blockBefore: ledger?.latestBlock }
    const size = commitSize(content)
    const { segment } = this.#log
    if (!segment || size > this.#segmentBytes) await this.#commitInBulk(content, ledger)
    else await this.#append(segment, content, size)
    this.#atFailurePoint('commit: done')
    this.#onChange()
  }

  async #append(segment: Segment, content: Omit<CommitContent, 'number'>, size: number): Promise<void> {
    const filled = segment.byteSize + size
    if (segment.head && filled > this.#segmentBytes) await this.#rotate()
    else if (this.#log.table.segments.length > 1) await this.#merges.keepPace(filled / this.#segmentBytes)
    this.#expectOpen()
    this.#log.append(content, (key, hash) => this.#hasValue(key, hash))
    this.#reads.noticeCommit()
  }

  /** A commit that is merged at once: the first, and those that are larger than a segment. */
  async #commitInBulk(content: Omit<CommitContent, 'number'>, ledger: LedgerInfo | undefined): Promise<void> {
    if (this.#log.segment) await this.#mergeAll()
    this.#moveOn(1, 'bulk: committed', ({ walFile, nextCommit }) => {
      this.#atFailurePoint('bulk: file created')
      const segment = new Segment(0, this.#log.table.hash)
      segment.reserve(payloadLength(content))
      segment.head = putCommit(segment, this.#log.table.hash, { ...content, number: nextCommit - 1 }, (key) =>
        this.#isInLatest(key),
      )
      const merge = new SegmentMerge(this.#store, this.#builder, segment, walFile)
      this.#transact(this.#durability, () => {
        if (!ledger) dropUnfinishedImport(this.#store)
        merge.mergeWhole()
        this.#atFailurePoint('bulk: before the transaction ends')
      })
    })
  }

  async #mergeAll(): Promise<void> {
    if (this.#log.segment?.head) await this.#rotate()
    await this.#merges.settled()
    this.#expectOpen()
  }

  /** One sealed segment at most waits to be merged. */
  async #rotate(): Promise<void> {
    await this.#merges.settled()
    this.#expectOpen()
    this.#log.rotate()
    this.#merges.start()
  }

  /** Whether a key that the newest segment does not have has a value. */
  #hasValue(key: Uint8Array, hash: number): boolean {
    for (const segment of this.#log.table.segments.slice(0, -1).reverse()) {
      const entry = segment.newest(key, hash)
      if (entry !== NONE) return !segment.isDeletion(entry)
    }
    return this.#isInLatest(key)
  }

  #isInLatest(key: Uint8Array): boolean {
    const latest = this.#latest
    if (!latest.load(this.#store.latest, key, this.#reads.snapshot().options)) return false
    return (latest.bytes[0]! & DELETED) === 0
  }

  async prune(retainVersions: bigint, options: PruneOptions = {}): Promise<PruneResult> {
    expectObject('the options of the prune', options)
    const { maxEntries = Number.POSITIVE_INFINITY } = options
    expectCount('maxEntries', maxEntries, 1)
    this.#raiseOldest(retainVersions)
    this.#onChange()
    const { oldestVersion } = this.#reads.snapshot().ledger!
    for (let droppedEntries = 0; ; ) {
      const step = this.#transact(this.#store.durability, () => {
        const dropped = pruneStep(this.#store, this.#builder)
        this.#atFailurePoint('prune: step before the transaction ends')
        return dropped
      })
      this.#atFailurePoint('prune: step done')
      droppedEntries += step.dropped
      if (step.done || droppedEntries >= maxEntries) return { oldestVersion, droppedEntries, done: step.done }
      await nextTurn()
      this.#expectOpen()
    }
  }

  #raiseOldest(retainVersions: bigint): void {
    const { ledger, record } = this.#reads.snapshot()
    if (!ledger || !record) throw noLedger()
    const { firstVersion, block } = this.#reads.blockAt(windowStart(ledger, retainVersions))
    if (firstVersion <= ledger.oldestVersion) return
    // The window must not begin above the versions that are on disk.
    if (firstVersion > record.ledger.latestVersion && this.#store.durability !== 'none') this.#log.sync()
    this.#transact(this.#store.durability, () => {
      raiseOldest(this.#store, this.#builder, firstVersion, block)
      this.#atFailurePoint('prune: floor raised')
    })
  }

  truncateTo(version: bigint, options: TruncateOptions = {}): Promise<void> {
    const truncated = this.#inTurn(() => this.#truncateTo(version, options))
    const revert = () => this.#revertInTurn()
    truncated.then(revert, revert)
    return truncated
  }

  async #truncateTo(version: bigint, options: TruncateOptions): Promise<void> {
    validateTruncation(options)
    this.#expectKept(version)
    if (this.#isReverting) await this.#revert()
    const { segment } = this.#log
    // What is below the newest segment is cut in LMDB.
    const isInSegment = segment && segment.versionCount > 0 && version >= segment.firstVersion - 1n
    if (!isInSegment && this.#log.table.segments.length > 1) await this.#merges.settled()
    this.#expectOpen()
    const { ledger, record } = this.#expectKept(version)
    this.#store.expectInPlace()
    const { block: latestBlock } = this.#reads.blockAt(version)
    const content = { truncation: nextTruncation(ledger, version), latestBlock, mark: options.mark }
    if (isInSegment || version >= record.ledger.latestVersion) {
      this.#log.truncate({ ...content, chainId: ledger.chainId })
      this.#reads.noticeCommit()
    } else this.#truncateMerged(content)
    this.#onChange()
  }

  /** Returns the state that has the version. */
  #expectKept(version: bigint): { readonly ledger: LedgerInfo; readonly record: LedgerRecord } {
    const { ledger, record } = this.#reads.snapshot()
    if (!ledger || !record) throw noLedger()
    expectKept(version, ledger)
    return { ledger, record }
  }

  #truncateMerged(content: Pick<MergedTruncation, 'truncation' | 'latestBlock' | 'mark'>): void {
    this.#moveOn(1, 'truncation: committed', ({ walFile, nextCommit }) => {
      this.#atFailurePoint('truncation: file created')
      this.#transact(this.#durability, () => {
        truncateMerged(this.#store, this.#builder, { ...content, walFile, nextCommit })
        this.#atFailurePoint('truncation: before the transaction ends')
      })
      this.#isReverting = true
    })
  }

  /** Other work of the process has its turn meanwhile. What fails is tried again by the next commit. */
  #revertInTurn(): void {
    if (this.#isReverting) void this.#inTurn(() => this.#revert()).catch(() => {})
  }

  /** Does nothing if a commit, whose turn came before, has done it. */
  async #revert(): Promise<void> {
    if (!this.#isReverting) return
    const revert = new MergedRevert(this.#store, this.#builder)
    const durability = this.#durability === 'none' ? 'none' : 'ordered'
    for (let isClean = false; !isClean; ) {
      this.#expectOpen()
      isClean = this.#transact(durability, () => this.#revertSlice(revert))
      revert.sliceCommitted()
      this.#atFailurePoint('truncation: slice done')
      await nextTurn()
    }
    this.#expectOpen()
    this.#moveOn(0, 'truncation: reverted', (following) => {
      this.#atFailurePoint('truncation: last file created')
      // Commits in that file need what the slices wrote.
      this.#transact(this.#durability, () => {
        revert.finish(following)
        this.#atFailurePoint('truncation: before the last transaction ends')
      })
    })
    this.#isReverting = false
    this.#atFailurePoint('truncation: done')
  }

  #revertSlice(revert: MergedRevert): boolean {
    const isClean = revert.slice(SLICE_MS)
    this.#atFailurePoint('truncation: slice before the transaction ends')
    return isClean
  }

  /** Runs work, whose last transaction makes the ledger record name the next write-ahead file, and goes on with that file. */
  #moveOn(commits: 0 | 1, committed: FailurePoint, work: (following: FollowingFile) => void): void {
    const following = this.#log.createFollowing(commits)
    try {
      work(following)
    } catch (error) {
      this.#log.discard(following)
      throw error
    }
    try {
      this.#atFailurePoint(committed)
    } finally {
      // The ledger record names that file: the next one must not take its number.
      this.#log.follow(following)
    }
  }

  beginImport(version: bigint, options: ImportOptions = {}): StateImport {
    const transact = (work: () => void) => {
      this.#expectOpen()
      this.#importTransaction(work)
      this.#onChange()
    }
    const beginLog = () => {
      this.#following = this.#log.createFollowing(1)
      const { walFile, nextCommit } = this.#following
      return { walFile, nextCommit }
    }
    const writer = { transact, beginLog, atFailurePoint: this.#atFailurePoint }
    return beginImport(this.#store, this.#builder, version, options, writer)
  }

  /** The last one of an import is followed by the first write-ahead file. */
  #importTransaction(work: () => void): void {
    try {
      // Commits in that file need what the last transaction wrote.
      this.#transact(this.#following ? this.#durability : this.#store.durability, work)
    } catch (error) {
      if (this.#following) this.#log.discard(this.#following)
      this.#following = undefined
      throw error
    }
    if (this.#following) this.#log.follow(this.#following)
    this.#following = undefined
  }

  async flush(): Promise<void> {
    this.#log.sync()
    await this.#syncStore()
  }

  async close(): Promise<void> {
    this.#isClosed = true
    await this.#merges.stop()
    await this.#turn?.catch(() => {})
    try {
      const end = this.#log.syncEnd()
      if (end) this.#confirmEnd(end)
    } finally {
      this.#log.close()
    }
  }

  /** The next opener then notices what is missing at the end of the write-ahead files. */
  #confirmEnd(end: LogFilePosition): void {
    try {
      const { record } = this.#reads.snapshot()
      if (!record || isSameEnd(record.logEnd, end)) return
      this.#transact(this.#durability, () => putLogEnd(this.#store, this.#builder, end))
    } catch (error) {
      // Nothing is lost: the store is as a killed writer leaves it.
      if (!isLedgerStateError(error)) throw error
    }
  }

  #mergeSlice(slice: () => boolean): boolean {
    const isMerged = this.#transact(this.#durability === 'none' ? 'none' : 'ordered', () => {
      const isLast = slice()
      this.#atFailurePoint(isLast ? 'merge: before the last transaction ends' : 'merge: before the transaction ends')
      return isLast
    })
    if (!isMerged) this.#atFailurePoint('merge: slice done')
    return isMerged
  }

  async #dropMerged(fileNumber: number): Promise<void> {
    this.#atFailurePoint('merge: done')
    await this.#log.dropBelow(fileNumber)
    this.#atFailurePoint('merge: file removed')
  }

  /**
   * Durability of transactions that write-ahead files depend on: what was merged of a file is on disk before it is
   * removed.
   */
  get #durability(): Durability {
    return this.#store.durability === 'none' ? 'none' : 'full'
  }

  async #syncStore(): Promise<void> {
    const { path, root } = this.#store
    const error = await new Promise<Error | null | undefined>((resolve) => root.sync(resolve))
    withStoreErrors(path, () => {
      if (error) throw error
    })
  }

  #transact<T>(durability: Durability, work: () => T): T {
    const { path, root } = this.#store
    this.#store.expectInPlace()
    try {
      return withStoreErrors(path, () => runTransaction(root, durability, work))
    } finally {
      // What was written is visible at once to reads of this engine.
      this.#reads.forgetSnapshot()
    }
  }

  /** Runs work at once if nothing else is under way, or else when all before it is done. */
  #inTurn(work: () => Promise<void>): Promise<void> {
    const ofOpenStore = async () => {
      this.#expectOpen()
      await work()
    }
    const result = this.#turn ? this.#turn.then(ofOpenStore, ofOpenStore) : ofOpenStore()
    this.#turn = result
    const done = () => {
      if (this.#turn === result) this.#turn = undefined
    }
    result.then(done, done)
    return result
  }

  #expectOpen(): void {
    if (this.#isClosed) throw storeClosed()
  }
}

/** Opens the write-ahead files of a store for its writer. @throws `store_corrupt` */
export function openLog(
  store: LmdbStore,
  record: LedgerRecord | undefined,
  segmentBytes: number,
  atFailurePoint: AtFailurePoint,
): CommitLog {
  return new CommitLog(store, recoverLog(store, record), segmentBytes, atFailurePoint)
}
