import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { setImmediate as nextTurn } from 'node:timers/promises'
import type { Block, HistoryOptions, LedgerInfo, Revision, StoreBase, VersionWrites } from '@ledger-state/core'
import { LedgerStateError } from '@ledger-state/core'
import { RecordBuilder } from './bytes/record.js'
import { decodeLedgerRecord } from './databases/ledger-record.js'
import { getMark } from './databases/mark.js'
import {
  type Durability,
  expectStore,
  LEDGER_KEY,
  type LmdbStore,
  LOCK_FILE,
  openLmdbStore,
  withStoreErrors,
} from './lmdb/lmdb-store.js'
import { runTransaction } from './lmdb/write-transaction.js'
import { acquireWriterLock } from './lmdb/writer-lock.js'
import { type CheckOptions, type CheckReport, checkStore } from './maintain/check-store.js'
import { type StoreStats, storeStats } from './maintain/store-stats.js'
import { takeSnapshot } from './maintain/take-snapshot.js'
import type {
  CommitOptions,
  EngineView,
  ImportOptions,
  PruneOptions,
  PruneResult,
  StateEngineReader,
  StateImport,
  StateWriter,
} from './port/ports.js'
import { validateImport } from './port/validate-batch.js'
import { createCommitWatch } from './read/commit-watch.js'
import { StoreReads } from './read/store-reads.js'
import { applyBatch } from './write/apply-batch.js'
import { atFailurePoint } from './write/failure-points.js'
import { beginImport } from './write/import-state.js'
import { pruneStep, raiseOldest, STEP_RECORDS } from './write/prune-store.js'

export interface StateEngineOptions {
  /** Folder of the store; the writer makes it where it is missing. */
  readonly path: string
  /**
   * Holds every record that is read against its checksum: what a disk has damaged is then `store_corrupt`, and never an
   * answer. Costs 0.6 to 1 µs a look-up, about a quarter. False by default; `check` looks at all of them.
   */
  readonly verifyReads?: boolean
  /**
   * Whether the system reads more of the file than was asked for, as much as it is set to. That pays for whoever reads all
   * in order, as `snapshot` does (of 11 GB in 12 s instead of 207), and while the store fits into memory; a larger one
   * answers and takes in many times more slowly. By default a reader lets it while the file is smaller, on opening, than a
   * quarter of the memory, and a writer never. Within a process, the first to open a store decides.
   */
  readonly readAhead?: boolean
}

export interface WriterOptions extends StateEngineOptions {
  /** What `commit` and `prune` wait for; `full` by default. */
  readonly durability?: Durability
  /** Whether to make a store where there is none; true by default. */
  readonly create?: boolean
}

/** A store open for reading, in this or another process than its writer. */
export interface LmdbEngineReader extends StateEngineReader {
  readonly stats: StoreStats
  /**
   * Calls back after commits and prunes, whoever makes them: with the newest state only where several come at once.
   * Answers with a function that ends it.
   */
  onCommit(listener: (ledger: LedgerInfo) => void): () => void
  /** Proves the invariants of the layout, one by one, at one state of the store. */
  check(options?: CheckOptions): Promise<CheckReport>
  /**
   * Copies the store as it is now into an empty folder, while it is read and written. Compacted, the copy has no free
   * pages and takes longer.
   * @throws `store_not_empty` where the folder holds a store already; `store_full`
   */
  snapshot(path: string, options?: { readonly compact?: boolean }): Promise<void>
  /**
   * @throws `store_missing` once the data file was removed, or another stands in its place (`fate` in its fields says
   *   `removed` or `replaced`): reads go on from the one that was opened, commits and prunes refuse, for nobody would see
   *   them.
   */
  expectInPlace(): void
  close(): Promise<void>
}

/** A store open for its one writer. */
export interface StateEngine extends LmdbEngineReader, StateWriter {
  /** Resolves when everything committed so far is on disk: for the durabilities below `full`. */
  flush(): Promise<void>
}

/**
 * Opens a store for its one writer and creates it where there is none.
 * @throws `store_locked` while another writer has it; `store_missing` where it is not to be created; `store_read_only`
 *   where the folder cannot be written to; `store_format`, `store_corrupt`, `store_failed`
 */
export function openStateEngine({ create = true, ...options }: WriterOptions): StateEngine {
  const { path } = options
  if (!create) expectStore(path)
  // The lock comes first: what is made or repaired on opening has one maker, too.
  withStoreErrors(path, () => mkdirSync(path, { recursive: true }))
  const releaseLock = withStoreErrors(path, () => acquireWriterLock(join(path, LOCK_FILE)))
  try {
    const store = openLmdbStore({ ...options, readOnly: false })
    return new LmdbEngine(store, releaseLock)
  } catch (error) {
    releaseLock()
    throw error
  }
}

/**
 * Opens a store for reading, from any number of processes. What the writer commits is seen within
 * milliseconds.
 * @throws `store_missing`; `store_format`, `store_corrupt`, `store_failed`
 */
export function openStateEngineReader(options: StateEngineOptions): LmdbEngineReader {
  return new LmdbEngine(openLmdbStore({ ...options, readOnly: true }), undefined)
}

class LmdbEngine implements StateEngine {
  readonly #store: LmdbStore
  readonly #releaseLock: (() => void) | undefined
  readonly #reads: StoreReads
  readonly #builder = new RecordBuilder()
  readonly #watch = createCommitWatch(() => this.ledger)
  #closed = false

  constructor(store: LmdbStore, releaseLock: (() => void) | undefined) {
    this.#store = store
    this.#releaseLock = releaseLock
    this.#reads = new StoreReads(store)
  }

  get ledger(): LedgerInfo | undefined {
    return this.#reads.snapshot().ledger
  }

  get base(): StoreBase | undefined {
    return this.#reads.snapshot().record?.base
  }

  get mark(): Uint8Array | undefined {
    return getMark(this.#store, this.#reads.snapshot().options)
  }

  get stats(): StoreStats {
    return storeStats(this.#store, this.#reads.snapshot().record)
  }

  at(version?: bigint): EngineView {
    return this.#reads.at(version)
  }

  blockAt(version: bigint): Block {
    return this.#reads.blockAt(version)
  }

  blockByHeight(height: bigint): Block | undefined {
    return this.#reads.blockByHeight(height)
  }

  blockAtTime(timestampUsec: bigint): Block | undefined {
    return this.#reads.blockAtTime(timestampUsec)
  }

  history(key: Uint8Array, options?: HistoryOptions): Iterable<Revision> {
    return this.#reads.history(key, options)
  }

  versions(first: bigint, last: bigint): Iterable<VersionWrites> {
    return this.#reads.versions(first, last)
  }

  onCommit(listener: (ledger: LedgerInfo) => void): () => void {
    this.#expectOpen()
    return this.#watch.add(listener)
  }

  async commit(versions: readonly VersionWrites[], options: CommitOptions): Promise<void> {
    this.#expectWritable()
    this.#transaction(() => {
      const bytes = this.#store.meta.getBinary(LEDGER_KEY)
      applyBatch(this.#store, this.#builder, versions, options, bytes && decodeLedgerRecord(bytes))
    })
    atFailurePoint('commit: done')
    this.#watch.notice()
  }

  async prune(retainVersions: bigint, { maxEntries }: PruneOptions = {}): Promise<PruneResult> {
    this.#expectWritable()
    this.#transaction(() => raiseOldest(this.#store, this.#builder, retainVersions))
    this.#watch.notice()
    const { oldestVersion } = this.ledger!
    let droppedEntries = 0
    for (let stepsLeft = Math.ceil((maxEntries ?? Number.POSITIVE_INFINITY) / STEP_RECORDS); ; ) {
      this.#expectWritable()
      const step = this.#transaction(() => pruneStep(this.#store, this.#builder))
      atFailurePoint('prune: step done')
      droppedEntries += step.dropped
      if (step.done || --stepsLeft <= 0) return { oldestVersion, droppedEntries, done: step.done }
      await nextTurn()
    }
  }

  async beginImport(version: bigint, options: ImportOptions = {}): Promise<StateImport> {
    validateImport(version, undefined)
    return beginImport(this.#store, this.#builder, version, options, (work) => {
      this.#expectWritable()
      this.#transaction(work)
    })
  }

  async flush(): Promise<void> {
    this.#expectWritable()
    await new Promise<void>((resolve, reject) => {
      this.#store.root.sync((error) => (error ? reject(error) : resolve()))
    })
  }

  async check(options: CheckOptions = {}): Promise<CheckReport> {
    this.#expectOpen()
    return await checkStore(this.#store, options)
  }

  async snapshot(path: string, { compact = false }: { readonly compact?: boolean } = {}): Promise<void> {
    this.#expectOpen()
    await takeSnapshot(this.#store, path, compact)
  }

  expectInPlace(): void {
    this.#expectOpen()
    this.#store.expectInPlace()
  }

  async close(): Promise<void> {
    if (this.#closed) return
    this.#closed = true
    this.#watch.close()
    this.#reads.close()
    await this.#store.root.close()
    this.#releaseLock?.()
  }

  #transaction<T>(work: () => T): T {
    this.#store.expectInPlace()
    try {
      return withStoreErrors(this.#store.path, () => runTransaction(this.#store.root, work))
    } finally {
      // What was committed here is seen here at once.
      this.#reads.forgetSnapshot()
    }
  }

  #expectOpen(): void {
    if (this.#closed) throw new LedgerStateError('store_closed', 'the store is closed')
  }

  #expectWritable(): void {
    this.#expectOpen()
    if (!this.#releaseLock) throw new LedgerStateError('store_read_only', 'the store is open for reading only')
  }
}
