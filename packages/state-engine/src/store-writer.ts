import { isLedgerStateError, type VersionWrites } from '@ledger-state/core'
import { syncFolder } from '@ledger-state/core/files'
import type {
  CommitOptions,
  ImportOptions,
  PruneOptions,
  PruneResult,
  StateImport,
  TruncateOptions,
  UnfinishedImport,
} from '@ledger-state/engine'
import { storeClosed } from '@ledger-state/engine/authoring'
import { RecordBuilder } from './bytes/record.js'
import { MergeScheduler } from './compaction/merge-scheduler.js'
import { SegmentNumbers } from './compaction/segment-numbers.js'
import type { AtFailpoint } from './failpoints/failpoints.js'
import type { LmdbStore } from './lmdb/lmdb-store.js'
import { StoreTransactions } from './lmdb/store-transactions.js'
import { NO_SLICES, SegmentFiles } from './read/segment-slices.js'
import { getLedgerRecord, putLedgerRecord } from './records/ledger-record.js'
import { isSameEnd, type LogFilePosition } from './records/log-position.js'
import { listSegmentRows } from './records/segment-rows.js'
import { ObsoleteSegments } from './segments/obsolete-segments.js'
import { segmentPath } from './segments/segment-names.js'
import type { WalAppender } from './wal/appender.js'
import { CommitWriter, type WaitingCommit } from './write/commit-writer.js'
import { beginImport, unfinishedImport } from './write/import-state.js'
import { prune } from './write/prune.js'
import { truncateTo } from './write/truncate-to.js'
import type { WriterParts, WriterReads } from './write/writer-parts.js'

export interface StoreWriterOptions {
  /** Most bytes of a segment. */
  readonly segmentBytes: number
  /** Whether other versions precede the store's: `WriterOptions.part`. */
  readonly isPart: boolean
  /** Called after each change. */
  readonly onChange: () => void
  readonly atFailpoint: AtFailpoint
}

/** Writes of an engine. It runs commits and truncations in turn, and opens and closes their files. */
export class StoreWriter {
  readonly #parts: WriterParts
  readonly #commits: CommitWriter
  /** End of the commits and of other work that runs in turn; undefined if there is none. */
  #turn: Promise<unknown> | undefined
  /** Commits whose turn has not come; undefined if none waits, or if other work waits after them. */
  #waiting: WaitingCommit[] | undefined
  #isClosed = false

  constructor(store: LmdbStore, reads: WriterReads, log: WalAppender, options: StoreWriterOptions) {
    const { segmentBytes, isPart, onChange, atFailpoint } = options
    // Reads of this engine see the writes at once.
    const transactions = new StoreTransactions(store, () => reads.forgetSnapshot())
    const shared = {
      store,
      builder: new RecordBuilder(),
      numbers: new SegmentNumbers(store),
      obsolete: new ObsoleteSegments(store.path),
      atFailpoint,
      isPart,
    }
    const merges = new MergeScheduler({
      ...shared,
      memtable: log.memtable,
      transact: (work) =>
        transactions.run(transactions.ofLog, () => {
          const isDone = work()
          atFailpoint('merge: before the transaction ends')
          return isDone
        }),
      onMerged: async (fileNumber) => {
        atFailpoint('merge: done')
        await log.dropBelow(fileNumber, () => reads.forgetSnapshot())
        atFailpoint('merge: file removed')
      },
    })
    this.#parts = {
      ...shared,
      importFiles: new SegmentFiles(store),
      reads,
      log,
      transactions,
      merges,
      onChange,
      inTurn: (work) => this.#inTurn(work),
      expectOpen: () => this.#expectOpen(),
    }
    this.#commits = new CommitWriter(this.#parts, segmentBytes)
    merges.start()
    merges.levels.start()
  }

  commit(versions: readonly VersionWrites[], options: CommitOptions): Promise<void> {
    return new Promise<void>((resolve, reject) => {
      const commit = { versions, options, resolve, reject }
      if (this.#waiting) this.#waiting.push(commit)
      else this.#commitInTurn([commit])
    })
  }

  /** Makes these commits in turn, together with those that are added before the turn comes. */
  #commitInTurn(waiting: WaitingCommit[]): void {
    const letNoneJoin = () => {
      if (this.#waiting === waiting) this.#waiting = undefined
    }
    const made = this.#inTurn(async () => {
      // Those that are called without waiting for each other join the first, which would otherwise go alone.
      await undefined
      letNoneJoin()
      await this.#commits.commit(waiting)
    })
    this.#waiting = waiting
    made.catch((error: unknown) => {
      letNoneJoin()
      for (const { reject } of waiting) reject(error)
    })
  }

  prune(retainVersions: bigint, options?: PruneOptions): Promise<PruneResult> {
    return prune(this.#parts, retainVersions, options)
  }

  truncateTo(version: bigint, options: TruncateOptions = {}): Promise<void> {
    return this.#inTurn(() => truncateTo(this.#parts, version, options))
  }

  putMark(mark: Uint8Array): Promise<void> {
    return this.#inTurn(() => this.#commits.putMark(mark))
  }

  beginImport(version: bigint, options?: ImportOptions): Promise<StateImport> {
    return beginImport(this.#parts, version, options)
  }

  unfinishedImport(): UnfinishedImport | undefined {
    return unfinishedImport(this.#parts)
  }

  /**
   * Writes all commits so far into files, merges all levels that are full, and removes the files that are not needed any
   * more. Commits do not wait for the levels.
   */
  async merge(): Promise<void> {
    await this.#inTurn(() => this.#commits.mergeAll())
    await this.#parts.merges.levels.settled()
    this.#expectOpen()
    // Merges succeed even if they cannot remove a file. Here the caller learns of it.
    await this.#parts.obsolete.removeLeft()
    await this.#parts.log.removeObsolete()
  }

  /** Writes all commits so far into files, and merges all files into one segment. Commits wait. */
  async compact(): Promise<void> {
    await this.#inTurn(async () => {
      await this.#commits.mergeAll()
      await this.#parts.merges.levels.compact()
    })
    this.#expectOpen()
  }

  /** Writes all commits so far into files, and drops data that no version of the window sees. Commits wait. */
  async reclaim(): Promise<void> {
    await this.#inTurn(async () => {
      await this.#commits.mergeAll()
      await this.#parts.merges.levels.reclaim()
    })
    this.#expectOpen()
  }

  /** Resolves when all commits so far are on disk. */
  async flush(): Promise<void> {
    const { store, log, transactions } = this.#parts
    await this.#inTurn(async () => {
      // Without a sync, a merge removes files that nothing on disk has replaced.
      if (store.durability === 'none') await this.#parts.merges.settled()
      await log.sync()
      if (store.durability !== 'none') await transactions.sync()
      // Their files were written without a sync.
      else {
        await transactions.syncAfter(async () => {
          store.seeNewest()
          await store.sync.syncOthers(listSegmentRows(store).map(({ file }) => segmentPath(store.path, file)))
          await syncFolder(store.path)
        })
      }
    })
  }

  async close(): Promise<void> {
    const { log, transactions, importFiles } = this.#parts
    this.#isClosed = true
    await this.#parts.merges.stop()
    await this.#turn?.catch(() => {})
    try {
      const end = await log.syncEnd()
      if (end) await this.#confirmEnd(end)
    } finally {
      importFiles.keep(NO_SLICES)
      log.close()
      await transactions.close()
    }
  }

  /** Records where the WAL files end, so that the next opener notices missing commits. */
  async #confirmEnd(end: LogFilePosition): Promise<void> {
    const { store, builder, reads, transactions } = this.#parts
    try {
      const { record } = reads.snapshot()
      if (!record || isSameEnd(record.logEnd, end)) return
      await transactions.run(transactions.ofLog, () =>
        putLedgerRecord(store, builder, { ...getLedgerRecord(store)!, logEnd: end }),
      )
    } catch (error) {
      // Nothing is lost: the store is like one after a killed writer.
      if (!isLedgerStateError(error)) throw error
    }
  }

  /** Runs work at once if nothing else is under way, or else after all earlier work. */
  #inTurn<T>(work: () => Promise<T>): Promise<T> {
    this.#waiting = undefined
    const ofOpenStore = async () => {
      this.#expectOpen()
      return await work()
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
