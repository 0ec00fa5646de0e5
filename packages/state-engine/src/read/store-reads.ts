import type {
  Block,
  BlockInfo,
  HistoryOptions,
  KeyedEntry,
  LedgerInfo,
  Revision,
  ScanOptions,
  StateEntry,
  VersionWrites,
  Write,
} from '@ledger-state/core'
import { highHalf, lowHalf, type NumberedKey, numberedKeyVersion, versionKey } from '../bytes/numbered-key.js'
import { decodeBlock } from '../databases/ledger-record.js'
import type { LmdbStore } from '../lmdb/lmdb-store.js'
import type { EngineView } from '../port/ports.js'
import { newestBlockWhere } from '../port/search-blocks.js'
import { expectKept, noLedger, versionPruned } from '../port/validate-batch.js'
import { keysByVersion } from './list-versions.js'
import { ABSENT, type Found, Lookup, PRESENT, REMOVED } from './lookup.js'
import { type ReadSnapshot, ReadSnapshots } from './read-snapshot.js'
import { keyPages } from './scan.js'

/** The reading half of an engine. */
export class StoreReads {
  readonly #store: LmdbStore
  readonly #snapshots: ReadSnapshots
  readonly #lookup: Lookup
  /** The view of the newest version, shared by all that ask for it until there is another. */
  #latest: StoreView | undefined

  constructor(store: LmdbStore) {
    this.#store = store
    this.#snapshots = new ReadSnapshots(store)
    this.#lookup = new Lookup(store)
  }

  /** What reads see now. @throws `store_closed` */
  snapshot(): ReadSnapshot {
    return this.#snapshots.current()
  }

  /** The next read sees what was committed meanwhile. */
  forgetSnapshot(): void {
    this.#snapshots.release()
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

  #view(version: bigint, ledger: LedgerInfo): StoreView {
    return new StoreView(this.#store, this.#snapshots, this.#lookup, version, ledger)
  }

  blockAt(version: bigint): Block {
    const { ledger, options } = this.snapshot()
    if (!ledger) throw noLedger()
    expectKept(version, ledger)
    const range = { start: versionKey(version, 0), end: undefined, reverse: true, limit: 1, ...options }
    const [found] = this.#store.blocks.getRange(range)
    const isLater = (key: NumberedKey) => numberedKeyVersion(key) > version
    const later = this.#store.blocks.getKeys({ start: versionKey(version, 0), end: undefined, limit: 2, ...options })
    const next = [...later].find(isLater)
    return {
      firstVersion: numberedKeyVersion(found!.key),
      lastVersion: next ? numberedKeyVersion(next) - 1n : ledger.latestVersion,
      block: decodeBlock(found!.key, found!.value),
    }
  }

  blockByHeight(height: bigint): Block | undefined {
    const found = this.#newestBlockWhere((block) => block.height <= height)
    return found?.block.height === height ? found : undefined
  }

  blockAtTime(timestampUsec: bigint): Block | undefined {
    return this.#newestBlockWhere((block) => block.timestampUsec <= timestampUsec)
  }

  #newestBlockWhere(holds: (block: BlockInfo) => boolean): Block | undefined {
    const { ledger } = this.snapshot()
    if (!ledger) throw noLedger()
    return newestBlockWhere(ledger, (version) => this.blockAt(version), holds)
  }

  *history(key: Uint8Array, { first = 0n, last, order = 'newestFirst' }: HistoryOptions = {}): Generator<Revision> {
    const newestFirst = this.#newestFirst(key, first, last)
    yield* order === 'newestFirst' ? newestFirst : [...newestFirst].reverse()
  }

  *#newestFirst(key: Uint8Array, first: bigint, last: bigint | undefined): Generator<Revision> {
    const { ledger } = this.snapshot()
    if (!ledger) throw noLedger()
    const { oldestVersion } = ledger
    const { latestVersion } = ledger
    for (let version = last === undefined || last > latestVersion ? latestVersion : last; ; version--) {
      if (version < oldestVersion) return
      const snapshot = this.snapshot()
      expectNotPruned(oldestVersion, snapshot)
      const found = this.#lookup.find(key, highHalf(version), lowHalf(version), snapshot.options)
      if (found === ABSENT) return
      version = this.#lookup.writtenVersion
      if (version < first) return
      // A deletion before the window, or at its beginning, leaves nothing to tell of.
      if (found === REMOVED && version <= oldestVersion) return
      yield { version, value: found === PRESENT ? this.#lookup.copy() : null }
      if (version <= oldestVersion) return
    }
  }

  *versions(first: bigint, last: bigint): Generator<VersionWrites> {
    const snapshot = () => {
      const current = this.snapshot()
      if (!current.ledger) throw noLedger()
      expectListable(first, current.ledger)
      return current
    }
    expectKept(last, snapshot().ledger!)
    let next = first
    for (const keysOfVersions of keysByVersion(this.#store, this.#lookup, snapshot, first, last)) {
      for (const [version, keys] of keysOfVersions) {
        while (next < version) yield this.#versionWrites(next++, [], snapshot)
        yield this.#versionWrites(next++, keys, snapshot)
      }
    }
    while (next <= last) yield this.#versionWrites(next++, [], snapshot)
  }

  #versionWrites(version: bigint, keys: readonly Uint8Array[], snapshot: () => ReadSnapshot): VersionWrites {
    const writes = keys.map((key): Write => {
      const found = this.#lookup.find(key, highHalf(version), lowHalf(version), snapshot().options)
      return [key, found === PRESENT ? this.#lookup.copy() : null]
    })
    const blockKey = versionKey(version, 0)
    const block = this.#store.blocks.getBinary(blockKey, snapshot().options)
    return { version, block: block && decodeBlock(blockKey, block), writes }
  }
}

/** What the oldest version wrote is not kept apart from what was before it. */
function expectListable(first: bigint, ledger: LedgerInfo): void {
  if (first <= ledger.oldestVersion) throw versionPruned(first, ledger.oldestVersion)
}

function expectNotPruned(version: bigint, { ledger }: ReadSnapshot): void {
  const { oldestVersion } = ledger!
  if (version < oldestVersion) throw versionPruned(version, oldestVersion)
}

class StoreView implements EngineView {
  readonly version: bigint
  readonly ledger: LedgerInfo
  readonly #store: LmdbStore
  readonly #snapshots: ReadSnapshots
  readonly #lookup: Lookup
  readonly #high: number
  readonly #low: number
  /** Known to keep the version. */
  #snapshot: ReadSnapshot | undefined

  constructor(store: LmdbStore, snapshots: ReadSnapshots, lookup: Lookup, version: bigint, ledger: LedgerInfo) {
    this.#store = store
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
    if (this.#find(key) !== PRESENT) return undefined
    return { version: this.#lookup.writtenVersion, value: this.#lookup.copy() }
  }

  has(key: Uint8Array): boolean {
    return this.#find(key) === PRESENT
  }

  getMany(keys: readonly Uint8Array[]): (Uint8Array | undefined)[] {
    return keys.map((key) => this.get(key))
  }

  *scan(prefix: Uint8Array, { start, limit }: ScanOptions = {}): Generator<KeyedEntry> {
    let left = limit ?? Number.POSITIVE_INFINITY
    for (const keys of keyPages(this.#store, prefix, () => this.#current().options)) {
      for (const key of keys) {
        if (left <= 0) return
        if (start && Buffer.compare(key, start) < 0) continue
        const entry = this.getEntry(key)
        if (!entry) continue
        left--
        yield { key, ...entry }
      }
    }
  }

  #find(key: Uint8Array): Found {
    return this.#lookup.find(key, this.#high, this.#low, this.#current().options)
  }

  #current(): ReadSnapshot {
    const snapshot = this.#snapshots.current()
    if (snapshot !== this.#snapshot) {
      expectNotPruned(this.version, snapshot)
      this.#snapshot = snapshot
    }
    return snapshot
  }
}
