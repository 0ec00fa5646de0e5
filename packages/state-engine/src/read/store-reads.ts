import type { BlockInfo, KeyedEntry, VersionWrites } from '@ledger-state/core'
import {
  type Block,
  type EngineView,
  type EntryVisitor,
  expectNotTruncated,
  type HistoryOptions,
  type LedgerSummary,
  type MergedWrites,
  nearestInHistory,
  noLedger,
  type Revision,
  type ScanOptions,
  type ScanStep,
  type StateEntry,
  versionPruned,
  type WriteSearch,
} from '@ledger-state/engine'
import {
  expectArray,
  expectBytes,
  expectKept,
  expectLedger,
  expectListable,
  expectU64,
  invalidArgument,
  type ScanRange,
  toHistoryRange,
  toScanRange,
} from '@ledger-state/engine/authoring'
import { highHalf, lowHalf } from '../bytes/version-halves.js'
import type { AtFailpoint } from '../failpoints/failpoints.js'
import type { LmdbStore } from '../lmdb/lmdb-store.js'
import { ABSENT, type Found, PRESENT } from '../segments/found.js'
import { blockWith } from './blocks.js'
import { BlocksAhead } from './blocks-ahead.js'
import { listHistory } from './list-history.js'
import { listVersions } from './list-versions.js'
import { Lookup } from './lookup.js'
import { openMergedWrites } from './merged-writes.js'
import { type ReadSnapshot, ReadSnapshots, type TableSource } from './read-snapshot.js'
import { keyPages } from './scan.js'
import { newestBlockAtMost } from './search-blocks.js'
import type { ScannedKey } from './segment-key-pages.js'

/** The reads of an engine. */
export class StoreReads {
  readonly #store: LmdbStore
  readonly #snapshots: ReadSnapshots
  readonly #lookup: Lookup
  /** View of the newest version, shared until there is a newer one. */
  #latest: StoreView | undefined

  constructor(store: LmdbStore, source: TableSource, atFailpoint: AtFailpoint) {
    this.#store = store
    this.#snapshots = new ReadSnapshots(store, source, atFailpoint)
    this.#lookup = new Lookup(store)
  }

  /** The snapshot that reads use now. @throws `store_closed` */
  snapshot(): ReadSnapshot {
    return this.#snapshots.current()
  }

  /** Called after a commit of this engine, which changed only the memtable. */
  noticeCommit(): void {
    this.#snapshots.noticeCommit()
  }

  /** Makes the next read see later commits. */
  forgetSnapshot(): void {
    this.#snapshots.forget()
  }

  close(): void {
    this.#snapshots.close()
  }

  at(version?: bigint): EngineView {
    const { ledger } = this.snapshot()
    if (!ledger) throw noLedger()
    if (version === undefined) {
      if (this.#latest?.ledger !== ledger) this.#latest = this.#view(ledger.latestVersion, ledger)
      return this.#latest
    }
    expectKept(version, ledger)
    return this.#view(version, ledger)
  }

  #view(version: bigint, ledger: LedgerSummary): StoreView {
    return new StoreView(this.#snapshots, this.#lookup, version, ledger)
  }

  blockAt(version: bigint): Block {
    const snapshot = this.snapshot()
    expectLedger(snapshot.ledger)
    expectKept(version, snapshot.ledger)
    return blockWith(snapshot, version)
  }

  blockByHeight(height: bigint): Block | undefined {
    expectU64('the height', height)
    const found = this.#newestBlockAtMost((block) => block.height, height)
    return found?.block.height === height ? found : undefined
  }

  blockAtTime(timestampUsec: bigint): Block | undefined {
    expectU64('the time', timestampUsec)
    return this.#newestBlockAtMost((block) => block.timestampUsec, timestampUsec)
  }

  #newestBlockAtMost(measure: (block: BlockInfo) => bigint, target: bigint): Block | undefined {
    const snapshot = this.snapshot()
    expectLedger(snapshot.ledger)
    return newestBlockAtMost(snapshot.ledger, (version) => blockWith(snapshot, version), measure, target)
  }

  history(key: Uint8Array, options?: HistoryOptions): Iterable<Revision> {
    const range = toHistoryRange(key, options)
    const { ledger } = this.snapshot()
    expectLedger(ledger)
    return listHistory(this.#store, () => this.snapshot(), key, range, ledger)
  }

  /** See `SearchingReader` of `engine`. A look-up finds the version of a value without its history or a copy. */
  nearestWrite(key: Uint8Array, search: WriteSearch): bigint | null {
    if ('until' in search) {
      const snapshot = this.snapshot()
      const { ledger } = snapshot
      const { until } = search
      if (ledger && until >= ledger.oldestVersion && until <= ledger.latestVersion) {
        const found = this.#lookup.find(key, highHalf(until), lowHalf(until), snapshot)
        // A key that the version does not have may have been deleted, which is a write, too.
        if (found === PRESENT) return this.#lookup.writtenVersion
      }
    }
    return nearestInHistory(this, key, search)
  }

  openMergedWrites(): MergedWrites {
    return openMergedWrites(
      this.#store,
      () => this.snapshot(),
      () => this.forgetSnapshot(),
    )
  }

  versions(first: bigint, last: bigint): Iterable<VersionWrites> {
    const { ledger } = this.snapshot()
    expectListable(first, last, ledger)
    return this.#versions(first, last, ledger)
  }

  *#versions(first: bigint, last: bigint, asked: LedgerSummary): Generator<VersionWrites> {
    const snapshot = () => {
      const current = this.snapshot()
      expectNotTruncated(last, asked, current.ledger)
      expectListable(first, last, current.ledger)
      return current
    }
    yield* listVersions(this.#lookup, snapshot, first, last)
  }
}

class StoreView implements EngineView {
  readonly version: bigint
  readonly ledger: LedgerSummary
  readonly #snapshots: ReadSnapshots
  readonly #lookup: Lookup
  readonly #high: number
  readonly #low: number
  /** The last snapshot that was found to keep the version. */
  #snapshot: ReadSnapshot | undefined

  constructor(snapshots: ReadSnapshots, lookup: Lookup, version: bigint, ledger: LedgerSummary) {
    this.#snapshots = snapshots
    this.#lookup = lookup
    this.version = version
    this.ledger = ledger
    this.#high = highHalf(version)
    this.#low = lowHalf(version)
  }

  get(key: Uint8Array): Uint8Array | undefined {
    return this.#find(key) === PRESENT ? this.#lookup.copy() : undefined
  }

  peek(key: Uint8Array): Uint8Array | undefined {
    return this.#find(key) === PRESENT ? this.#lookup.peek() : undefined
  }

  getEntry(key: Uint8Array): StateEntry | undefined {
    return this.#find(key) === PRESENT ? this.#foundEntry() : undefined
  }

  #foundEntry(): StateEntry {
    const entry = { version: this.#lookup.writtenVersion, value: this.#lookup.copy() }
    const annotation = this.#lookup.annotation()
    return annotation ? { ...entry, annotation } : entry
  }

  has(key: Uint8Array): boolean {
    return this.#find(key) === PRESENT
  }

  getMany(keys: readonly Uint8Array[]): (Uint8Array | undefined)[] {
    expectArray('the keys', keys)
    return keys.map((key) => this.get(key))
  }

  /** See `readEach` of `engine`. */
  async readEach(keys: readonly Uint8Array[], visit: EntryVisitor): Promise<void> {
    expectArray('the keys', keys)
    const ahead = new BlocksAhead()
    let left = keys
    for (const key of keys) expectBytes('the key', key)
    for (;;) {
      const snapshot = this.#current()
      left = left.filter((key) => {
        const found = this.#lookup.findAtHand(key, this.#high, this.#low, snapshot, ahead)
        if (found !== undefined) visit(key, found === PRESENT ? this.#foundEntry() : undefined)
        return found === undefined
      })
      if (left.length === 0) return
      await ahead.read()
    }
  }

  scan(prefix: Uint8Array, options?: ScanOptions): Iterable<KeyedEntry> {
    const range = toScanRange(prefix, options)
    this.#current()
    // Without steps there are only entries.
    return this.#scan(prefix, range, false) as Generator<KeyedEntry>
  }

  /** See `scanInSteps` of `engine`. */
  scanInSteps(prefix: Uint8Array, options?: ScanOptions): Iterable<ScanStep> {
    const range = toScanRange(prefix, options)
    this.#current()
    return this.#scan(prefix, range, true)
  }

  *#scan(prefix: Uint8Array, { start, limit }: ScanRange, hasSteps: boolean): Generator<ScanStep> {
    let left = limit
    if (left === 0) return
    const current = () => this.#current()
    const place = { prefix, first: start, high: this.#high, low: this.#low }
    for (const { keys, snapshot } of keyPages(place, current, () => left)) {
      let skipped = 0
      for (const scanned of keys) {
        const entry = this.#scannedEntry(scanned, snapshot)
        if (!entry) {
          skipped++
          continue
        }
        yield entry
        if (--left === 0) return
      }
      if (hasSteps && skipped > 0) yield { key: keys.at(-1)!.key, skipped }
    }
  }

  /** The entry of a key that a scan met in a snapshot. A later snapshot may have merged another write of it. */
  #scannedEntry({ key, merged }: ScannedKey, snapshot: ReadSnapshot): KeyedEntry | null | undefined {
    if (this.#current() === snapshot && merged !== undefined) {
      const found = this.#lookup.findUnmerged(key, this.#high, this.#low, snapshot)
      if (found === ABSENT) return merged
      return found === PRESENT ? { key, ...this.#foundEntry() } : null
    }
    const entry = this.getEntry(key)
    return entry && { key, ...entry }
  }

  #find(key: Uint8Array): Found {
    if (!(key instanceof Uint8Array)) throw invalidArgument('the key', 'a Uint8Array', key)
    return this.#lookup.find(key, this.#high, this.#low, this.#current())
  }

  #current(): ReadSnapshot {
    const snapshot = this.#snapshots.current()
    if (snapshot !== this.#snapshot) {
      const { oldestVersion } = snapshot.ledger!
      expectNotTruncated(this.version, this.ledger, snapshot.ledger)
      if (this.version < oldestVersion) throw versionPruned(this.version, oldestVersion)
      this.#snapshot = snapshot
    }
    return snapshot
  }
}
