import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { setImmediate as nextTurn } from 'node:timers/promises'
import type { LedgerInfo, StateEntry, StateReader, StateView } from '@ledger-state/core'
import { LedgerStateError, U64_MAX, type VersionWrites } from '@ledger-state/core'
import type { Database, Transaction } from 'lmdb'
import { applyBatch } from './apply-batch.js'
import { decodeBlock, decodeLedgerRecord, encodeLedgerRecord, type LedgerRecord } from './ledger-record.js'
import { LEDGER_KEY, type LmdbStore, LOCK_FILE, openLmdbStore, withStoreErrors } from './lmdb-store.js'
import type { CommitOptions, PruneResult, StateWriter } from './ports.js'
import {
  decodeHistory,
  decodeLatest,
  decodeVersion,
  encodeHistoryKey,
  encodeVersion,
  historyKeyId,
  latestRecordState,
} from './records.js'
import { decodeStaleList } from './stale-list.js'
import { expectKept, noLedger, versionPruned, windowStart } from './validate-batch.js'
import { acquireWriterLock } from './writer-lock.js'

export interface StateEngineOptions {
  /** Folder of the store; the writer makes it where it is missing. */
  readonly path: string
}

export interface StoreStats {
  /** Keys with a newest write, deletions inside the window included. */
  readonly keys: number
  /** Superseded values that some version of the window still sees. */
  readonly historyEntries: number
  readonly blocks: number
  /** Size of the data file. */
  readonly fileBytes: number
}

export interface StateEngineReader extends StateReader {
  readonly stats: StoreStats
  close(): Promise<void>
}

export interface StateEngine extends StateEngineReader, StateWriter {}

/** Stale lists that one transaction of a prune works off, so that commits and other work get their turn between. */
const PRUNE_STEP_VERSIONS = 1_000

/**
 * Opens a store for its one writer and creates it where there is none.
 * @throws `store_locked` while another writer has it; `store_format`, `store_corrupt`, `store_failed`
 */
export function openStateEngine(options: StateEngineOptions): StateEngine {
  // The lock comes first: what is made or repaired on opening has one maker, too.
  withStoreErrors(() => mkdirSync(options.path, { recursive: true }))
  const releaseLock = acquireWriterLock(join(options.path, LOCK_FILE))
  try {
    return new LmdbEngine(openLmdbStore({ ...options, readOnly: false }), releaseLock)
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
export function openStateEngineReader(options: StateEngineOptions): StateEngineReader {
  return new LmdbEngine(openLmdbStore({ ...options, readOnly: true }), undefined)
}

/** How long reads share one snapshot of LMDB: the delay with which they see what another process commits. */
const SNAPSHOT_MS = 5
/** A snapshot that is kept keeps pages from being used again. */
const IDLE_SNAPSHOT_MS = 20

/** One state of the store for all reads of a few milliseconds: taking a snapshot costs more than two look-ups. */
interface ReadSnapshot {
  readonly options: { readonly transaction: Transaction }
  readonly ledger: LedgerInfo | undefined
  /** By `performance.now()`. */
  readonly until: number
}

class LmdbEngine implements StateEngine {
  readonly #store: LmdbStore
  readonly #releaseLock: (() => void) | undefined
  #closed = false
  #snapshot: ReadSnapshot | undefined
  #idle: NodeJS.Timeout | undefined
  #seen: { bytes: Buffer; record: LedgerRecord } | undefined

  constructor(store: LmdbStore, releaseLock: (() => void) | undefined) {
    this.#store = store
    this.#releaseLock = releaseLock
  }

  get ledger(): LedgerInfo | undefined {
    return this.#readSnapshot().ledger
  }

  get stats(): StoreStats {
    this.#expectOpen()
    const { root, latest, history, blocks } = this.#store
    const { lastPageNumber, pageSize } = root.getStats() as { lastPageNumber: number; pageSize: number }
    return {
      keys: entryCount(latest),
      historyEntries: entryCount(history),
      blocks: entryCount(blocks),
      fileBytes: (lastPageNumber + 1) * pageSize,
    }
  }

  at(version?: bigint): StateView {
    const { ledger } = this
    if (!ledger) throw noLedger()
    const wanted = version ?? ledger.latestVersion
    expectKept(wanted, ledger)
    return new EngineView(this, wanted, ledger)
  }

  async commit(versions: readonly VersionWrites[], { chainId }: CommitOptions): Promise<void> {
    this.#expectWritable()
    this.#transaction(() => applyBatch(this.#store, versions, chainId, this.#recordInTransaction()))
  }

  async prune(retainVersions: bigint): Promise<PruneResult> {
    this.#expectWritable()
    this.#transaction(() => this.#raiseOldest(retainVersions))
    const oldestVersion = this.ledger!.oldestVersion
    let droppedEntries = 0
    for (;;) {
      this.#expectWritable()
      const step = this.#transaction(() => this.#dropStale(oldestVersion))
      droppedEntries += step.dropped
      if (step.done) return { oldestVersion, droppedEntries }
      await nextTurn()
    }
  }

  async close(): Promise<void> {
    if (this.#closed) return
    this.#closed = true
    clearTimeout(this.#idle)
    this.#releaseSnapshot()
    await this.#store.root.close()
    this.#releaseLock?.()
  }

  /** What reads see now. */
  #readSnapshot(): ReadSnapshot {
    this.#expectOpen()
    const now = performance.now()
    if (this.#snapshot && now < this.#snapshot.until) return this.#snapshot
    this.#releaseSnapshot()
    const transaction = this.#store.root.useReadTransaction()
    const options = { transaction }
    const bytes = this.#store.meta.get(LEDGER_KEY, options)
    if (bytes && !this.#seen?.bytes.equals(bytes)) this.#seen = { bytes, record: decodeLedgerRecord(bytes) }
    this.#snapshot = { options, ledger: bytes && this.#seen!.record.ledger, until: now + SNAPSHOT_MS }
    this.#idle ??= setTimeout(this.#releaseIdleSnapshot, IDLE_SNAPSHOT_MS).unref()
    return this.#snapshot
  }

  #releaseSnapshot(): void {
    this.#snapshot?.options.transaction.done()
    this.#snapshot = undefined
  }

  readonly #releaseIdleSnapshot = (): void => {
    this.#idle = undefined
    if (this.#snapshot && performance.now() < this.#snapshot.until) {
      this.#idle = setTimeout(this.#releaseIdleSnapshot, IDLE_SNAPSHOT_MS).unref()
    } else {
      this.#releaseSnapshot()
    }
  }

  /** The ledger record as the transaction at hand sees it. */
  #recordInTransaction(): LedgerRecord | undefined {
    const bytes = this.#store.meta.getBinary(LEDGER_KEY)
    return bytes && decodeLedgerRecord(bytes)
  }

  find(key: Uint8Array, version: bigint): StateEntry | undefined {
    const { options, ledger } = this.#readSnapshot()
    const bytes = getShared(this.#store.latest, key, options)
    const latest = bytes && decodeLatest(key, bytes)
    if (latest) {
      if (latest.version <= version) return latest.value ? { version: latest.version, value: latest.value } : undefined
      const superseded = this.#findSuperseded(latest.keyId, version, options.transaction)
      if (superseded) return superseded
    }
    // Entries that are found hold at any version that they span, pruned or not; only absence may be the pruner's work.
    const { oldestVersion } = ledger!
    if (version < oldestVersion) throw versionPruned(version, oldestVersion)
    return undefined
  }

  /** The value of a key that was superseded soonest after `version`, if it was written by then. */
  #findSuperseded(keyId: number, version: bigint, transaction: Transaction): StateEntry | undefined {
    const start = encodeHistoryKey(keyId, version + 1n)
    for (const { key, value } of this.#store.history.getRange({ start, limit: 1, transaction })) {
      if (historyKeyId(key) !== keyId) return undefined
      const superseded = decodeHistory(value)
      return superseded.version <= version ? superseded : undefined
    }
    return undefined
  }

  /** Readers refuse versions below the window from here on; what they could not see is dropped after that. */
  #raiseOldest(retainVersions: bigint): void {
    const record = this.#recordInTransaction()
    if (!record) throw noLedger()
    const { ledger } = record
    const start = encodeVersion(windowStart(ledger.latestVersion, retainVersions))
    const { blocks, meta } = this.#store
    const [floor] = [
      ...blocks.getRange({ start, limit: 1 }),
      // No block starts inside the window: the newest block stays whole.
      ...blocks.getRange({ reverse: true, limit: 1 }),
    ]
    const oldestVersion = decodeVersion(floor!.key)
    if (oldestVersion <= ledger.oldestVersion) return
    const raised: LedgerInfo = { ...ledger, oldestVersion, oldestBlock: decodeBlock(floor!.value) }
    meta.putSync(LEDGER_KEY, encodeLedgerRecord({ ...record, ledger: raised }))
  }

  #dropStale(oldestVersion: bigint): { dropped: number; done: boolean } {
    const { stale, history, latest, blocks } = this.#store
    const end = oldestVersion === U64_MAX ? undefined : encodeVersion(oldestVersion + 1n)
    const limit = PRUNE_STEP_VERSIONS
    const lists = [...stale.getRange(end ? { end, limit } : { limit })]
    let dropped = 0
    for (const { key, value } of lists) {
      const version = decodeVersion(key)
      const { historyKeys, deletions } = decodeStaleList(version, value)
      for (const historyKey of historyKeys) if (history.removeSync(historyKey)) dropped++
      for (const deleted of deletions) {
        const bytes = latest.getBinary(deleted)
        const state = bytes && latestRecordState(bytes)
        if (state?.deleted && state.version === version && latest.removeSync(deleted)) dropped++
      }
      stale.removeSync(key)
    }
    const oldBlocks = [...blocks.getKeys({ end: encodeVersion(oldestVersion), limit })]
    for (const key of oldBlocks) blocks.removeSync(key)
    return { dropped, done: lists.length < limit && oldBlocks.length < limit }
  }

  #transaction<T>(work: () => T): T {
    try {
      return withStoreErrors(() => this.#store.root.transactionSync(work))
    } finally {
      // What was committed here is seen here at once.
      this.#releaseSnapshot()
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

/** `getBinaryFast` with the transaction to read in, which its type leaves out. */
function getShared(database: Database<Buffer, Uint8Array>, key: Uint8Array, options: object): Buffer | undefined {
  return (database.getBinaryFast as (key: Uint8Array, options: object) => Buffer | undefined).call(
    database,
    key,
    options,
  )
}

class EngineView implements StateView {
  readonly version: bigint
  readonly ledger: LedgerInfo
  readonly #engine: LmdbEngine

  constructor(engine: LmdbEngine, version: bigint, ledger: LedgerInfo) {
    this.#engine = engine
    this.version = version
    this.ledger = ledger
  }

  get(key: Uint8Array): Uint8Array | undefined {
    return this.#engine.find(key, this.version)?.value
  }

  getEntry(key: Uint8Array): StateEntry | undefined {
    return this.#engine.find(key, this.version)
  }
}

function entryCount(database: Database<Buffer, Uint8Array>): number {
  return (database.getStats() as { entryCount: number }).entryCount
}
