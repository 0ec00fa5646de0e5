import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { setImmediate as nextTurn } from 'node:timers/promises'
import type { LedgerInfo, StateEntry, VersionWrites } from '@ledger-state/core'
import { LedgerStateError } from '@ledger-state/core'
import { applyBatch } from './apply-batch.js'
import { type CheckOptions, type CheckReport, checkStore } from './check-store.js'
import { createCommitWatch } from './commit-watch.js'
import { atFailurePoint } from './failure-points.js'
import { dropUnfinishedImport, StateImporter } from './import-state.js'
import { decodeBlock, decodeLedgerRecord } from './ledger-record.js'
import { type Durability, LEDGER_KEY, type LmdbStore, LOCK_FILE, openLmdbStore, withStoreErrors } from './lmdb-store.js'
import { ABSENT, type Found, Lookup, PRESENT, REMOVED } from './lookup.js'
import { highHalf, lowHalf, numberedKeyVersion, versionKey } from './numbered-key.js'
import type {
  Block,
  CommitOptions,
  EngineView,
  ImportBase,
  KeyedEntry,
  PruneResult,
  Revision,
  StateEngineReader,
  StateWriter,
} from './ports.js'
import { pruneStep, raiseOldest } from './prune-store.js'
import { type ReadSnapshot, ReadSnapshots } from './read-snapshot.js'
import { RecordBuilder } from './record.js'
import { keyPages } from './scan.js'
import { takeSnapshot } from './take-snapshot.js'
import { expectKept, noLedger, validateImport, versionPruned } from './validate-batch.js'
import { runTransaction } from './write-transaction.js'
import { acquireWriterLock } from './writer-lock.js'

export interface StateEngineOptions {
  /** Folder of the store; the writer makes it where it is missing. */
  readonly path: string
}

export interface WriterOptions extends StateEngineOptions {
  /** What `commit` and `prune` wait for; `full` by default. */
  readonly durability?: Durability
}

export interface StoreStats {
  /** Keys with a newest write, deletions inside the window included. */
  readonly keys: number
  /** Superseded values that some version of the window still sees. */
  readonly historyEntries: number
  readonly blocks: number
  /** Keys and values that are kept, without anything of ours. */
  readonly payloadBytes: number
  /** Size of the data file. */
  readonly fileBytes: number
  /** The part of the file that holds nothing and is used again. */
  readonly freeBytes: number
  /** Pages of each database, and its records. */
  readonly databases: Readonly<Record<string, { readonly bytes: number; readonly records: number }>>
  /** Processes and threads that read now, of the most that can. */
  readonly readers: { readonly used: number; readonly most: number }
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
  close(): Promise<void>
}

/** A store open for its one writer. */
export interface StateEngine extends LmdbEngineReader, StateWriter {
  /** Resolves when everything committed so far is on disk: for the durabilities below `full`. */
  flush(): Promise<void>
}

/**
 * Opens a store for its one writer and creates it where there is none.
 * @throws `store_locked` while another writer has it; `store_format`, `store_corrupt`, `store_failed`
 */
export function openStateEngine({ path, durability }: WriterOptions): StateEngine {
  // The lock comes first: what is made or repaired on opening has one maker, too.
  withStoreErrors(() => mkdirSync(path, { recursive: true }))
  const releaseLock = acquireWriterLock(join(path, LOCK_FILE))
  try {
    const store = openLmdbStore({ path, readOnly: false, durability })
    withStoreErrors(() => dropUnfinishedImport(store))
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
export function openStateEngineReader({ path }: StateEngineOptions): LmdbEngineReader {
  return new LmdbEngine(openLmdbStore({ path, readOnly: true }), undefined)
}

/** Entries of an import in one transaction. */
const IMPORT_PART = 5_000

class LmdbEngine implements StateEngine {
  readonly #store: LmdbStore
  readonly #releaseLock: (() => void) | undefined
  readonly #snapshots: ReadSnapshots
  readonly #builder = new RecordBuilder()
  readonly #watch = createCommitWatch(() => this.ledger)
  readonly lookup: Lookup
  #closed = false

  constructor(store: LmdbStore, releaseLock: (() => void) | undefined) {
    this.#store = store
    this.#releaseLock = releaseLock
    this.#snapshots = new ReadSnapshots(store)
    this.lookup = new Lookup(store)
  }

  get ledger(): LedgerInfo | undefined {
    return this.snapshotNow().ledger
  }

  get stats(): StoreStats {
    const { record } = this.snapshotNow()
    const { root, latest, log, retired, index, large, blocks } = this.#store
    const { lastPageNumber, pageSize, maxReaders, numReaders, free } = root.getStats()
    const databases = Object.fromEntries(
      Object.entries({ latest, log, retired, index, large, blocks }).map(([name, database]) => {
        const stats = database.getStats()
        const pages = stats.treeBranchPageCount + stats.treeLeafPageCount + stats.overflowPages
        return [name, { bytes: pages * pageSize, records: stats.entryCount }]
      }),
    )
    const usedBytes = Object.values(databases).reduce((sum, { bytes }) => sum + bytes, 0)
    const freeListBytes = (free.treeBranchPageCount + free.treeLeafPageCount + free.overflowPages) * pageSize
    const fileBytes = (lastPageNumber + 1) * pageSize
    return {
      keys: databases.latest!.records,
      historyEntries: record?.supersededEntries ?? 0,
      blocks: databases.blocks!.records,
      payloadBytes: record?.payloadBytes ?? 0,
      fileBytes,
      freeBytes: Math.max(0, fileBytes - usedBytes - freeListBytes - META_PAGES * pageSize),
      databases,
      readers: { used: numReaders, most: maxReaders },
    }
  }

  at(version?: bigint): EngineView {
    const { ledger } = this.snapshotNow()
    if (!ledger) throw noLedger()
    const wanted = version ?? ledger.latestVersion
    expectKept(wanted, ledger)
    return new LmdbView(this, wanted, ledger)
  }

  blockAt(version: bigint): Block {
    const { ledger, options } = this.snapshotNow()
    if (!ledger) throw noLedger()
    expectKept(version, ledger)
    const range = { start: versionKey(version, 0), end: undefined, reverse: true, limit: 1, ...options }
    const [found] = this.#store.blocks.getRange(range)
    return { firstVersion: numberedKeyVersion(found!.key), block: decodeBlock(found!.key, found!.value) }
  }

  *history(key: Uint8Array): Generator<Revision> {
    const { ledger } = this.snapshotNow()
    if (!ledger) throw noLedger()
    const { oldestVersion } = ledger
    for (let version = ledger.latestVersion; ; version--) {
      const snapshot = this.snapshotNow()
      if (oldestVersion < snapshot.ledger!.oldestVersion) {
        throw versionPruned(oldestVersion, snapshot.ledger!.oldestVersion)
      }
      const found = this.find(key, highHalf(version), lowHalf(version), snapshot)
      if (found === ABSENT) return
      const { writtenHigh, writtenLow } = this.lookup
      version = (BigInt(writtenHigh) << 32n) | BigInt(writtenLow)
      // A deletion before the window, or at its beginning, leaves nothing to tell of.
      if (found === REMOVED && version <= oldestVersion) return
      yield { version, value: found === PRESENT ? this.copyFound() : null }
      if (version <= oldestVersion) return
    }
  }

  onCommit(listener: (ledger: LedgerInfo) => void): () => void {
    this.#expectOpen()
    return this.#watch.add(listener)
  }

  async commit(versions: readonly VersionWrites[], { chainId }: CommitOptions): Promise<void> {
    this.#expectWritable()
    this.#transaction(() => {
      const bytes = this.#store.meta.getBinary(LEDGER_KEY)
      applyBatch(this.#store, this.#builder, versions, chainId, bytes && decodeLedgerRecord(bytes))
    })
    atFailurePoint('commit: done')
    this.#watch.notice()
  }

  async prune(retainVersions: bigint): Promise<PruneResult> {
    this.#expectWritable()
    this.#transaction(() => raiseOldest(this.#store, this.#builder, retainVersions))
    this.#watch.notice()
    const { oldestVersion } = this.ledger!
    let droppedEntries = 0
    for (;;) {
      this.#expectWritable()
      const step = this.#transaction(() => pruneStep(this.#store, this.#builder))
      atFailurePoint('prune: step done')
      droppedEntries += step.dropped
      if (step.done) return { oldestVersion, droppedEntries }
      await nextTurn()
    }
  }

  async importState(base: ImportBase, entries: Iterable<KeyedEntry> | AsyncIterable<KeyedEntry>): Promise<void> {
    this.#expectWritable()
    validateImport(base)
    const importer = new StateImporter(this.#store, this.#builder, base)
    this.#transaction(() => importer.begin())
    try {
      let part: KeyedEntry[] = []
      const addPart = () => {
        this.#expectWritable()
        this.#transaction(() => importer.add(part))
        part = []
      }
      for await (const entry of entries) {
        validateImport(base, entry)
        if (part.push(entry) === IMPORT_PART) addPart()
      }
      addPart()
      this.#transaction(() => importer.finish())
    } catch (error) {
      if (!this.#closed) withStoreErrors(() => dropUnfinishedImport(this.#store))
      throw error
    }
    this.#watch.notice()
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

  async close(): Promise<void> {
    if (this.#closed) return
    this.#closed = true
    this.#watch.close()
    this.#snapshots.close()
    await this.#store.root.close()
    this.#releaseLock?.()
  }

  /** What reads see now. */
  snapshotNow(): ReadSnapshot {
    if (this.#closed) this.#expectOpen()
    return this.#snapshots.current()
  }

  /** Leaves what it found in `lookup`. */
  find(key: Uint8Array, high: number, low: number, { options }: ReadSnapshot): Found {
    return this.lookup.find(key, high, low, options)
  }

  copyFound(): Uint8Array {
    return this.lookup.copy()
  }

  keyPages(prefix: Uint8Array, snapshot: () => ReadSnapshot): Iterable<Uint8Array[]> {
    return keyPages(this.#store, prefix, () => snapshot().options)
  }

  #transaction<T>(work: () => T): T {
    try {
      return withStoreErrors(() => runTransaction(this.#store.root, work))
    } finally {
      // What was committed here is seen here at once.
      this.#snapshots.release()
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

const META_PAGES = 2

class LmdbView implements EngineView {
  readonly version: bigint
  readonly ledger: LedgerInfo
  readonly #engine: LmdbEngine
  readonly #high: number
  readonly #low: number
  /** Known to keep the version. */
  #snapshot: ReadSnapshot | undefined

  constructor(engine: LmdbEngine, version: bigint, ledger: LedgerInfo) {
    this.#engine = engine
    this.version = version
    this.ledger = ledger
    this.#high = highHalf(version)
    this.#low = lowHalf(version)
  }

  get(key: Uint8Array): Uint8Array | undefined {
    return this.#find(key) === PRESENT ? this.#engine.copyFound() : undefined
  }

  peek(key: Uint8Array): Uint8Array | undefined {
    if (this.#find(key) !== PRESENT) return undefined
    const { bytes, start, end } = this.#engine.lookup
    return new Uint8Array(bytes.buffer, bytes.byteOffset + start, end - start)
  }

  getEntry(key: Uint8Array): StateEntry | undefined {
    if (this.#find(key) !== PRESENT) return undefined
    const { writtenHigh, writtenLow } = this.#engine.lookup
    return { version: (BigInt(writtenHigh) << 32n) | BigInt(writtenLow), value: this.#engine.copyFound() }
  }

  has(key: Uint8Array): boolean {
    return this.#find(key) === PRESENT
  }

  getMany(keys: readonly Uint8Array[]): (Uint8Array | undefined)[] {
    return keys.map((key) => this.get(key))
  }

  *scan(prefix: Uint8Array): Generator<KeyedEntry> {
    for (const keys of this.#engine.keyPages(prefix, () => this.#current())) {
      for (const key of keys) {
        const entry = this.getEntry(key)
        if (entry) yield { key, ...entry }
      }
    }
  }

  #find(key: Uint8Array): Found {
    return this.#engine.find(key, this.#high, this.#low, this.#current())
  }

  #current(): ReadSnapshot {
    const snapshot = this.#engine.snapshotNow()
    if (snapshot !== this.#snapshot) {
      const { oldestVersion } = snapshot.ledger!
      if (this.version < oldestVersion) throw versionPruned(this.version, oldestVersion)
      this.#snapshot = snapshot
    }
    return snapshot
  }
}
