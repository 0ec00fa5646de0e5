import { join } from 'node:path'
import type { VersionWrites } from '@ledger-state/core'
import { isPresent, makeFolderNow, syncFolderNow } from '@ledger-state/core/files'
import type {
  Block,
  CommitOptions,
  EngineView,
  HistoryOptions,
  ImportOptions,
  LedgerSummary,
  ListenerOptions,
  MergedWrites,
  PruneOptions,
  PruneResult,
  Revision,
  StateEngineReader,
  StateImport,
  StateWriter,
  StoreBase,
  TruncateOptions,
  UnfinishedImport,
  WriteSearch,
} from '@ledger-state/engine'
import {
  createCommitWatch,
  expectOneOf,
  expectOptions,
  expectString,
  invalidArgument,
  storeClosed,
} from '@ledger-state/engine/authoring'
import { type CheckOptions, type CheckReport, checkStore } from './check/check-store.js'
import { storeReadOnly } from './errors.js'
import { type AtFailpoint, neverFail } from './failpoints/failpoints.js'
import { COMPRESS, type Compress } from './lmdb/compress.js'
import { DURABILITIES, type Durability } from './lmdb/durability.js'
import { expectStore, type LmdbStore, LOCK_FILE, openLmdbStore, STORE_FILE } from './lmdb/lmdb-store.js'
import { expectSoundNames } from './lmdb/sound-names.js'
import { claimStore, readStoreId } from './lmdb/store-claim.js'
import { withStoreErrors, withSystemErrors, withSystemErrorsAsync } from './lmdb/store-errors.js'
import { acquireWriterLock } from './lmdb/writer-lock.js'
import { unmergedHead } from './read/read-snapshot.js'
import { StoreReads } from './read/store-reads.js'
import { type StoreStats, storeStats } from './read/store-stats.js'
import type { VersionLists } from './read/writes-after.js'
import { expectImportedEntries } from './records/import-record.js'
import { getLedgerRecord, type LedgerRecord } from './records/ledger-record.js'
import { getMark } from './records/mark.js'
import { expectAllVersions, listSegmentRows } from './records/segment-rows.js'
import { removeUnnamedSegments, segmentPath } from './segments/segment-names.js'
import { mayFollowOthers, PART_SEGMENTS_ID } from './sharing/part-segments.js'
import { type StoreSegments, storeSegments } from './sharing/store-segments.js'
import { takeSnapshot } from './snapshot/take-snapshot.js'
import { StoreWriter } from './store-writer.js'
import { WalAppender } from './wal/appender.js'
import { WalFollower } from './wal/follower.js'
import { recoverWal } from './wal/recovery.js'

/** Interval in milliseconds at which a reader looks for commits of other processes while it has listeners. */
const COMMIT_POLL_MS = 20
/** Default size of the memtable: 64 MiB. */
const DEFAULT_TABLE_BYTES = 2 ** 26
/** Largest size of the memtable: offsets in a WAL file have 32 bits. */
const MAX_TABLE_BYTES = 2 ** 31
const MIN_MAP_BYTES = 2 ** 20
/** Largest map: the address space of a process on a processor of 64 bits. */
const MAX_MAP_BYTES = 2 ** 46

/** Options of readers and of the writer of a store. */
export interface StateEngineOptions {
  /** Folder of the store. A writer creates it if it is missing. */
  readonly path: string
  /**
   * Whether to compare blocks of segment files with their checksums in each snapshot that reads them, so that damage of
   * the disk under a running process is `store_corrupt`, and never an answer. Otherwise each block is compared when the
   * process reads it first. It costs about 2 µs for each block and snapshot, and up to 8 MiB of memory for copies of
   * blocks that many snapshots read. False by default.
   */
  readonly verifyReads?: boolean
  /**
   * Address space into which the file is mapped, in bytes; 1 TiB by default. Choose less if address space is limited
   * (`ulimit -v`, valgrind), and more for a store that grows beyond it.
   */
  readonly mapBytes?: number
}

/** Options of the writer of a store. */
export interface WriterOptions extends StateEngineOptions {
  /** What `commit` and `prune` wait for; `full` by default. */
  readonly durability?: Durability
  /** Whether to create a store if there is none; true by default. */
  readonly create?: boolean
  /**
   * Memory in bytes for commits that are not in segment files yet, up to 2 GiB; 64 MiB by default. Every reader process
   * takes as much. With more, each write is merged less often, which pays during a large ingest. With 0, every commit is
   * written to a file at once.
   */
  readonly memtableBytes?: number | undefined
  /**
   * Whether the blocks of segment files that are seldom merged again are compressed (deflate): `auto`, the default, once
   * the files of the store exceed half of the memory, `always` or `never`. A read of a compressed block that is not in
   * memory takes 10 to 30 µs more. The option may change: every reader reads both kinds of files.
   */
  readonly compress?: Compress | undefined
  /**
   * Whether the store has a part of the versions of a ledger that others precede; false by default. Then it keeps deletions
   * of keys that it never had, because an earlier part may have them, and stores with the same commits have the same
   * segment files after `compact`. `joinStores` makes one store of such parts. A store that was created as a part stays one,
   * unless it begins with a known state.
   */
  readonly part?: boolean | undefined
}

/** Options of a copy: its kind, and a signal that stops it. */
export interface SnapshotOptions {
  /** Whether to leave out what no version needs; false by default. */
  readonly compact?: boolean
  readonly signal?: AbortSignal | undefined
}

/** A store open for reading, in the process of its writer or in another. */
export interface LmdbEngineReader extends StateEngineReader {
  /** Identifies the store, in hex: a copy has the same, and a new store in the same folder another one. */
  readonly storeId: string
  readonly stats: StoreStats
  /** Opens all writes that are in segment files now, for one pass over many versions. Close them afterwards. */
  openMergedWrites(): MergedWrites
  /** Checks the invariants of the layout in one state of the store. */
  check(options?: CheckOptions): Promise<CheckReport>
  /**
   * Copies the current state of the store into an empty folder, while it is read and written. A compact copy has no
   * free pages and nothing that no version of the window sees, and takes longer. A part keeps all writes (`WriterOptions.part`).
   * @throws `store_not_empty` if the folder already holds a store; `store_locked` while another snapshot is taken into it;
   *   `store_full`; the reason of the signal, after which the folder has no store or the whole copy
   */
  snapshot(path: string, options?: SnapshotOptions): Promise<void>
  /**
   * Describes the segment files of the store. They stay as they are until a writer merges them.
   * @throws `invalid_argument` if the newest commits are not in segment files yet: `merge` writes them
   */
  segments(): StoreSegments
  /**
   * Checks that the data file is still the one that was opened.
   * @throws `store_missing` once the data file was removed or replaced (`fate` in the fields of the error). Reads still
   *   use the file that was opened. Commits and prunes refuse, because no later reader would see them.
   */
  expectInPlace(): void
  /**
   * Makes the next read see all commits so far. Otherwise reads see those of other processes within 20 ms, because
   * they share a snapshot. What any process has read of the store before this call is then seen.
   */
  refresh(): void
}

/** A store open for writing. A store has one writer at a time. */
export interface StateEngine extends LmdbEngineReader, StateWriter {
  /**
   * Resolves when all commits so far are on disk. It is needed only with a durability below `full`; with `none` it also
   * merges full segments. After an error, the next call writes again everything that may be missing on disk.
   */
  flush(): Promise<void>
  /**
   * Writes all commits so far to segment files. This engine and every reader then need hardly any memory for them.
   * Commits wait for it.
   */
  merge(): Promise<void>
  /**
   * Merges like `merge`, and makes one segment of all files. It needs as much free disk space as these take.
   * @throws `store_full` before it begins if there is less
   */
  compact(): Promise<void>
  /**
   * Merges like `merge`, and rewrites all files without data that no version of the window sees: prunes drop whole
   * files only. It needs as much free disk space as the files take.
   * @throws `store_full` before it begins if there is less
   */
  reclaim(): Promise<void>
}

const knownOptions = {
  path: 0,
  verifyReads: 0,
  mapBytes: 0,
  durability: 0,
  create: 0,
  memtableBytes: 0,
  compress: 0,
  part: 0,
} satisfies Record<keyof WriterOptions, 0>
/**
 * Options that readers accept. Those of writers are among them and have no effect, so that programs can use one object
 * for both.
 */
const KNOWN_OPTIONS = Object.keys(knownOptions)

/**
 * Opens a store for writing, and creates it if there is none.
 * @throws `store_locked` while another writer has it open; `store_missing` if there is none and `create` is false;
 *   `store_read_only` if the folder cannot be written to; `store_format`, `store_corrupt`, `store_failed`,
 *   `invalid_argument`
 * @example
 * ```ts
 * import { mkdtempSync } from 'node:fs'
 * import { tmpdir } from 'node:os'
 * import { join } from 'node:path'
 * import { openStateEngine } from '@ledger-state/state-engine'
 *
 * const engine = openStateEngine({ path: mkdtempSync(join(tmpdir(), 'state-')) })
 * const key = new TextEncoder().encode('alice')
 * const block = (height: bigint) => ({ height, epoch: 0n, timestampUsec: 0n })
 * await engine.commit([{ version: 0n, block: block(0n), writes: [[key, Uint8Array.of(1)]] }], { chainId: 1 })
 * await engine.commit([{ version: 1n, block: block(1n), writes: [[key, Uint8Array.of(2)]] }], { chainId: 1 })
 * console.log(engine.at(0n).get(key)?.[0], engine.at().get(key)?.[0]) // 1 2
 * console.log([...engine.history(key)].map(({ version }) => version)) // [ 1n, 0n ]
 * await engine.close()
 * ```
 */
export function openStateEngine(options: WriterOptions): StateEngine {
  return openWithFailpoints(options, neverFail)
}

/** Same as `openStateEngine`, for tests that interrupt the work of the engine. */
export function openWithFailpoints(options: WriterOptions, atFailpoint: AtFailpoint): StateEngine {
  validateOptions(options)
  const { path, create = true, durability = 'full', compress = 'auto', memtableBytes = DEFAULT_TABLE_BYTES } = options
  expectOneOf('the durability', durability, DURABILITIES)
  expectOneOf('the option compress', compress, COMPRESS)
  expectBetween('memtableBytes', memtableBytes, 0, MAX_TABLE_BYTES)
  if (!create) expectStore(path)
  // The lock comes first, so that only one opener creates or repairs the store.
  withStoreErrors(path, () => makeFolderNow(path))
  const releaseLock = withStoreErrors(path, () => acquireWriterLock(join(path, LOCK_FILE)))
  let store: LmdbStore | undefined
  let claim: (() => void) | undefined
  const release = () => {
    claim?.()
    releaseLock()
  }
  try {
    const file = join(path, STORE_FILE)
    const storeId = withStoreErrors(path, () => (isPresent(file) ? readStoreId(file) : undefined))
    if (storeId !== undefined) claim = withStoreErrors(path, () => claimStore(path, storeId))
    const opened = openLmdbStore({
      ...options,
      readOnly: false,
      segmentsId: options.part ? PART_SEGMENTS_ID : undefined,
    })
    store = opened
    claim ??= withStoreErrors(path, () => claimStore(path, opened.storeId))
    const segmentBytes = Math.floor(memtableBytes / 2)
    const parts = { releaseLock: release, segmentBytes, isPart: options.part === true }
    return withSystemErrors(path, () => new LmdbEngine(opened, atFailpoint, parts))
  } catch (error) {
    void store?.root.close()
    release()
    throw error
  }
}

/**
 * Opens a store for reading, from any number of processes. A reader sees commits of the writer within milliseconds.
 * @throws `store_missing`; `store_format`, `store_corrupt`, `store_failed`, `invalid_argument`
 * @example
 * ```ts
 * import { mkdtempSync } from 'node:fs'
 * import { tmpdir } from 'node:os'
 * import { join } from 'node:path'
 * import { openStateEngine, openStateEngineReader } from '@ledger-state/state-engine'
 *
 * const path = mkdtempSync(join(tmpdir(), 'state-'))
 * const writer = openStateEngine({ path })
 * const reader = openStateEngineReader({ path }) // here, or in another process
 * const block = { height: 0n, epoch: 0n, timestampUsec: 0n }
 * await writer.commit([{ version: 0n, block, writes: [] }], { chainId: 1 })
 * console.log(reader.ledger?.latestVersion) // 0n
 * await reader.close()
 * await writer.close()
 * ```
 */
export function openStateEngineReader(options: StateEngineOptions): LmdbEngineReader {
  return openReaderWithFailpoints(options, neverFail)
}

/** Same as `openStateEngineReader`, for tests that delay the work of the engine. */
export function openReaderWithFailpoints(options: StateEngineOptions, atFailpoint: AtFailpoint): LmdbEngineReader {
  validateOptions(options)
  return new LmdbEngine(openLmdbStore({ ...options, readOnly: true }), atFailpoint, undefined)
}

function validateOptions(options: StateEngineOptions): void {
  expectOptions('the options of the store', options, KNOWN_OPTIONS)
  expectString('the path of the store', options.path)
  if (options.mapBytes !== undefined) expectBetween('mapBytes', options.mapBytes, MIN_MAP_BYTES, MAX_MAP_BYTES)
}

function expectBetween(what: string, value: unknown, least: number, most: number): void {
  if (Number.isInteger(value) && (value as number) >= least && (value as number) <= most) return
  throw invalidArgument(what, `a whole number from ${least} to ${most}`, value)
}

interface WriterSetup {
  readonly releaseLock: () => void
  readonly segmentBytes: number
  readonly isPart: boolean
}

/** Removes the remains of segment files that a killed writer left. If damage in LMDB hides rows, all files stay. */
function removeLeftSegments(store: LmdbStore, record: LedgerRecord | undefined): void {
  const rows = listSegmentRows(store)
  try {
    if (record) expectAllVersions(rows, record)
    else expectImportedEntries(store, rows)
  } catch {
    // Reads report it.
    return
  }
  const named = new Set(rows.map(({ file }) => file))
  withStoreErrors(store.path, () => {
    removeUnnamedSegments(store.path, named)
    if (store.durability === 'none') return
    // The writer before may have synced nothing.
    store.sync.beginOthersNow([...named].map((file) => segmentPath(store.path, file)).filter((path) => isPresent(path)))
    syncFolderNow(store.path)
  })
}

class LmdbEngine implements StateEngine {
  readonly kind = 'sync'
  readonly #store: LmdbStore
  readonly #atFailpoint: AtFailpoint
  readonly #reads: StoreReads
  readonly #writer: StoreWriter | undefined
  readonly #closeSource: () => void
  readonly #watch = createCommitWatch(() => this.ledger, COMMIT_POLL_MS)
  readonly #versionLists: VersionLists = new WeakMap()
  /** Checks, copies and other work under way that uses the data file. */
  readonly #tasks = new Set<Promise<unknown>>()
  #closing: Promise<void> | undefined

  constructor(store: LmdbStore, atFailpoint: AtFailpoint, parts: WriterSetup | undefined) {
    this.#store = store
    this.#atFailpoint = atFailpoint
    if (!parts) {
      const follower = new WalFollower(store, atFailpoint)
      this.#reads = new StoreReads(store, follower, atFailpoint)
      this.#closeSource = () => follower.close()
      return
    }
    const { segmentBytes, releaseLock } = parts
    const record = getLedgerRecord(store)
    const isPart = parts.isPart || mayFollowOthers(store, record)
    removeLeftSegments(store, record)
    const recovered = recoverWal(store, record)
    const log = new WalAppender(store, recovered, segmentBytes, atFailpoint)
    this.#reads = new StoreReads(store, log, atFailpoint)
    const onChange = () => this.#watch.notice()
    this.#writer = new StoreWriter(store, this.#reads, log, { segmentBytes, isPart, onChange, atFailpoint })
    this.#closeSource = releaseLock
  }

  get ledger(): LedgerSummary | undefined {
    return this.#reads.snapshot().ledger
  }

  get base(): StoreBase | undefined {
    return this.#reads.snapshot().record?.base
  }

  get mark(): Uint8Array | undefined {
    const snapshot = this.#reads.snapshot()
    const head = unmergedHead(snapshot)
    if (head) return head.mark && Uint8Array.from(head.mark)
    const mark = getMark(this.#store, snapshot.options)
    if (!mark && this.#store.verifyReads) expectSoundNames(this.#store.meta, snapshot.options)
    return mark
  }

  get storeId(): string {
    return this.#store.storeId.toString(16).padStart(16, '0')
  }

  openMergedWrites(): MergedWrites {
    return withStoreErrors(this.#store.path, () => this.#reads.openMergedWrites())
  }

  get stats(): StoreStats {
    const snapshot = this.#reads.snapshot()
    return withStoreErrors(this.#store.path, () => storeStats(this.#store, this.#versionLists, snapshot))
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

  nearestWrite(key: Uint8Array, search: WriteSearch): bigint | null {
    return this.#reads.nearestWrite(key, search)
  }

  versions(first: bigint, last: bigint): Iterable<VersionWrites> {
    return this.#reads.versions(first, last)
  }

  onCommit(listener: (ledger: LedgerSummary) => void, options?: ListenerOptions): () => void {
    this.#expectOpen()
    return this.#watch.add(listener, options)
  }

  async commit(versions: readonly VersionWrites[], options: CommitOptions): Promise<void> {
    await this.#task((writer) => writer.commit(versions, options))
  }

  async prune(retainVersions: bigint, options?: PruneOptions): Promise<PruneResult> {
    return await this.#run(this.#task((writer) => writer.prune(retainVersions, options)))
  }

  async truncateTo(version: bigint, options?: TruncateOptions): Promise<void> {
    await this.#task((writer) => writer.truncateTo(version, options))
  }

  async putMark(mark: Uint8Array): Promise<void> {
    await this.#task((writer) => writer.putMark(mark))
  }

  async beginImport(version: bigint, options?: ImportOptions): Promise<StateImport> {
    return await this.#task((writer) => writer.beginImport(version, options))
  }

  async unfinishedImport(): Promise<UnfinishedImport | undefined> {
    return await this.#task(async (writer) => writer.unfinishedImport())
  }

  async flush(): Promise<void> {
    await this.#run(this.#task((writer) => writer.flush()))
  }

  async merge(): Promise<void> {
    await this.#task((writer) => writer.merge())
  }

  async compact(): Promise<void> {
    await this.#task((writer) => writer.compact())
  }

  async reclaim(): Promise<void> {
    await this.#task((writer) => writer.reclaim())
  }

  segments(): StoreSegments {
    const snapshot = this.#reads.snapshot()
    const mark = this.mark
    return withStoreErrors(this.#store.path, () => storeSegments(this.#store, snapshot, mark))
  }

  async check(options: CheckOptions = {}): Promise<CheckReport> {
    this.#expectOpen()
    const expectOpen = () => this.#expectOpen()
    const parts = { expectOpen, atFailpoint: this.#atFailpoint }
    return await this.#run(withSystemErrorsAsync(this.#store.path, () => checkStore(this.#store, options, parts)))
  }

  async snapshot(path: string, { compact = false, signal }: SnapshotOptions = {}): Promise<void> {
    this.#expectOpen()
    expectString('the path of the snapshot', path)
    const expectGoing = () => {
      this.#expectOpen()
      signal?.throwIfAborted()
    }
    const parts = { expectGoing, atFailpoint: this.#atFailpoint }
    try {
      await this.#run(withSystemErrorsAsync(path, () => takeSnapshot(this.#store, path, compact, parts)))
      if (compact) await this.#compactCopy(path, expectGoing, signal)
    } catch (error) {
      signal?.throwIfAborted()
      throw error
    }
  }

  /** Leaves out what no version needs. The copy is whole: if this is interrupted, it is larger than necessary. */
  async #compactCopy(path: string, expectGoing: () => void, signal: AbortSignal | undefined): Promise<void> {
    expectGoing()
    const copy = openStateEngine({ path, create: false, compress: this.#store.compress })
    const stop = (): void => void copy.close()
    signal?.addEventListener('abort', stop, { once: true })
    try {
      await this.#run(copy.reclaim())
    } finally {
      signal?.removeEventListener('abort', stop)
      await copy.close()
    }
  }

  expectInPlace(): void {
    this.#expectOpen()
    withSystemErrors(this.#store.path, () => this.#store.expectInPlace())
  }

  refresh(): void {
    this.#expectOpen()
    this.#reads.forgetSnapshot()
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.close()
  }

  close(): Promise<void> {
    this.#closing ??= withSystemErrorsAsync(this.#store.path, () => this.#close())
    return this.#closing
  }

  async #close(): Promise<void> {
    // The rest of this method runs once `#closing` is set, which ends the tasks at their next step.
    await undefined
    this.#watch.close()
    try {
      await this.#writer?.close()
    } finally {
      // LMDB in another thread, or a step of a task, would read a map that is gone.
      await Promise.allSettled(this.#tasks)
      try {
        this.#reads.close()
      } finally {
        await this.#store.root.close().finally(() => this.#closeSource())
      }
    }
  }

  /** Has `close` wait for a task. */
  async #run<T>(task: Promise<T>): Promise<T> {
    this.#tasks.add(task)
    try {
      return await task
    } finally {
      this.#tasks.delete(task)
    }
  }

  #expectOpen(): void {
    if (this.#closing) throw storeClosed()
  }

  /** Runs a task of the writer. Its errors become errors of the store. */
  async #task<T>(work: (writer: StoreWriter) => Promise<T>): Promise<T> {
    const writer = this.#expectWriter()
    return await withSystemErrorsAsync(this.#store.path, () => work(writer))
  }

  #expectWriter(): StoreWriter {
    this.#expectOpen()
    if (!this.#writer) throw storeReadOnly.openForReading()
    return this.#writer
  }
}
