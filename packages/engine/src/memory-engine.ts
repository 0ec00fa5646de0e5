import {
  type BlockInfo,
  bytesToHexDigits,
  hexToBytes,
  type KeyedEntry,
  type VersionWrites,
  type Write,
} from '@ledger-state/core'
import { createCommitWatch } from './commit-watch.js'
import {
  duplicateKey,
  importNeedsEmptyStore,
  importReplaced,
  storeClosed,
  storeLockedHere,
  versionPruned,
} from './errors.js'
import type { BlockEntry } from './ports/block-entry.js'
import type {
  CommitOptions,
  EngineView,
  ImportBase,
  ImportOptions,
  ListenerOptions,
  PruneOptions,
  PruneResult,
  StateImport,
  StateWriter,
  TruncateOptions,
  UnfinishedImport,
} from './ports/engine-ports.js'
import type {
  Block,
  HistoryOptions,
  LedgerSummary,
  Revision,
  ScanOptions,
  StateEntry,
  StoreBase,
} from './ports/state-port.js'
import { SortedMap } from './sorted-map.js'
import { addTruncation, expectNotTruncated, nextTruncation } from './validation/truncations.js'
import {
  expectArray,
  expectBytes,
  expectCount,
  expectMark,
  expectObject,
  expectU64,
  type HistoryRange,
  type ScanRange,
  toHistoryRange,
  toScanRange,
  validateTruncation,
} from './validation/validate-arguments.js'
import { validateBatch, validateImportBase, validateImportPart } from './validation/validate-batch.js'
import {
  expectKept,
  expectLedger,
  expectListable,
  isStepKept,
  PRUNE_STEP_RECORDS,
  windowStart,
} from './validation/window.js'

/**
 * The content of an engine in memory, which outlives it: `createMemoryEngine(store)` opens it again once the previous
 * engine is closed.
 */
export interface MemoryStore {
  readonly kind: 'memory'
}

/** Creates an empty store in memory. */
export function createMemoryStore(): MemoryStore {
  return new MemoryState()
}

/**
 * Creates an engine that keeps every revision of every key in memory. It is simple, slow in deep histories, and the
 * model in tests.
 * @throws `store_locked` while another engine has the store open
 * @example
 * ```ts
 * import { createMemoryEngine } from '@ledger-state/engine'
 *
 * const engine = createMemoryEngine()
 * const block = { height: 0n, epoch: 0n, timestampUsec: 0n }
 * await engine.commit([{ version: 0n, block, writes: [[Uint8Array.of(1), Uint8Array.of(7)]] }], { chainId: 1 })
 * console.log(engine.at().get(Uint8Array.of(1))) // Uint8Array(1) [ 7 ]
 * ```
 */
export function createMemoryEngine(store: MemoryStore = createMemoryStore()): StateWriter {
  return new MemoryEngine(store as MemoryState)
}

class MemoryState implements MemoryStore {
  readonly kind = 'memory'
  isOpen = false
  ledger: LedgerSummary | undefined
  base: StoreBase | undefined
  mark: Uint8Array | undefined
  /** Revisions of each key, oldest first. Keys are hex digits, which have the order of the bytes. */
  revisions = new SortedMap<Revision[]>()
  blocks: BlockEntry[] = []
  import: MemoryImport | undefined
}

class MemoryEngine implements StateWriter {
  readonly kind = 'sync'
  readonly #store: MemoryState
  readonly #watch = createCommitWatch(() => this.ledger)
  #closed = false

  constructor(store: MemoryState) {
    if (store.isOpen) throw storeLockedHere('the memory store')
    store.isOpen = true
    this.#store = store
  }

  get ledger(): LedgerSummary | undefined {
    return this.#state.ledger
  }

  get base(): StoreBase | undefined {
    return this.#state.base
  }

  get mark(): Uint8Array | undefined {
    const { mark } = this.#state
    return mark && Uint8Array.from(mark)
  }

  get #state(): MemoryState {
    if (this.#closed) throw storeClosed()
    return this.#store
  }

  at(version?: bigint): EngineView {
    const { ledger } = this.#state
    expectLedger(ledger)
    const wanted = version === undefined ? ledger.latestVersion : version
    expectKept(wanted, ledger)
    const getEntry = (key: Uint8Array) => this.#find(key, wanted, ledger)
    const get = (key: Uint8Array) => getEntry(key)?.value
    const has = (key: Uint8Array) => get(key) !== undefined
    const getMany = (keys: readonly Uint8Array[]) => {
      expectArray('the keys', keys)
      return keys.map(get)
    }
    const scan = (prefix: Uint8Array, options?: ScanOptions) => {
      const range = toScanRange(prefix, options)
      this.#expectVisible(wanted, ledger)
      return this.#scan(bytesToHexDigits(prefix), wanted, range, ledger)
    }
    return { version: wanted, ledger, getEntry, get, peek: get, has, getMany, scan }
  }

  blockAt(version: bigint): Block {
    const { ledger, blocks } = this.#state
    expectLedger(ledger)
    expectKept(version, ledger)
    const at = blocks.findLastIndex(({ firstVersion }) => firstVersion <= version)
    const next = blocks[at + 1]
    return { ...blocks[at]!, lastVersion: next ? next.firstVersion - 1n : ledger.latestVersion }
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

  /** Finds the newest block by trying all of them: it is the model for the search of other engines. */
  #newestBlockAtMost(measure: (block: BlockInfo) => bigint, target: bigint): Block | undefined {
    const { ledger, blocks } = this.#state
    expectLedger(ledger)
    const found = blocks.findLast(({ block }) => measure(block) <= target)
    return found && this.blockAt(found.firstVersion)
  }

  history(key: Uint8Array, options?: HistoryOptions): Iterable<Revision> {
    const range = toHistoryRange(key, options)
    const { ledger } = this.#state
    expectLedger(ledger)
    return this.#history(bytesToHexDigits(key), range, ledger)
  }

  *#history(key: string, { first, last, isNewestFirst }: HistoryRange, ledger: LedgerSummary): Generator<Revision> {
    const { oldestVersion, latestVersion } = ledger
    const end = last === undefined || last > latestVersion ? latestVersion : last
    const found = this.#seenRevisions(key, oldestVersion).filter(({ version }) => version >= first && version <= end)
    let from = isNewestFirst ? end : first
    for (const revision of isNewestFirst ? found.toReversed() : found) {
      const now = this.#state.ledger!
      expectNotTruncated(end, ledger, now)
      if (!isStepKept(revision, { first, isNewestFirst, from }, ledger, now))
        throw versionPruned(oldestVersion, now.oldestVersion)
      const { version, value, annotation } = revision
      from = isNewestFirst ? version - 1n : version + 1n
      yield copyOfRevision({ version, value, annotation })
    }
    // A prune may have taken the next write.
    const now = this.#state.ledger!
    const mayGoOn = isNewestFirst && from >= first && from >= oldestVersion
    if (mayGoOn && !isStepKept(undefined, { first, isNewestFirst, from }, ledger, now))
      throw versionPruned(oldestVersion, now.oldestVersion)
  }

  /** Revisions of a key that some version of the window sees. */
  #seenRevisions(key: string, oldestVersion: bigint): Revision[] {
    const revisions = this.#state.revisions.get(key) ?? []
    return revisions.slice(unseenCount(revisions, oldestVersion))
  }

  versions(first: bigint, last: bigint): Iterable<VersionWrites> {
    const { ledger } = this.#state
    expectListable(first, last, ledger)
    return this.#versions(first, last, ledger)
  }

  *#versions(first: bigint, last: bigint, asked: LedgerSummary): Generator<VersionWrites> {
    for (let version = first; version <= last; version++) {
      const { ledger, revisions, blocks } = this.#state
      expectNotTruncated(last, asked, ledger)
      expectListable(first, last, ledger)
      const writes: Write[] = []
      for (const key of revisions.sortedKeys()) {
        const revision = revisions.get(key)!.find((candidate) => candidate.version === version)
        if (!revision) continue
        const { value, annotation } = copyOfRevision(revision)
        writes.push(annotation ? [hexToBytes(key), value, annotation] : [hexToBytes(key), value])
      }
      yield { version, block: blocks.find(({ firstVersion }) => firstVersion === version)?.block, writes }
    }
  }

  onCommit(listener: (ledger: LedgerSummary) => void, options?: ListenerOptions): () => void {
    if (this.#closed) throw storeClosed()
    return this.#watch.add(listener, options)
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.close()
  }

  async close(): Promise<void> {
    if (this.#closed) return
    this.#closed = true
    this.#watch.close()
    this.#store.isOpen = false
  }

  async commit(versions: readonly VersionWrites[], options: CommitOptions): Promise<void> {
    const state = this.#state
    const chainId = validateBatch(versions, options, state.ledger)
    for (const { version, writes } of versions) {
      if (new Set(writes.map(([key]) => bytesToHexDigits(key))).size !== writes.length) throw duplicateKey(version)
    }
    if (versions.length === 0) return
    state.import = undefined
    state.mark = options.mark && Uint8Array.from(options.mark)
    state.base ??= { version: versions[0]!.version, complete: versions[0]!.version === 0n }
    for (const { version, block, writes } of versions) {
      if (block) state.blocks.push({ firstVersion: version, block: copyOfBlock(block) })
      for (const [key, value, annotation] of writes) {
        this.#write(bytesToHexDigits(key), copyOfRevision({ version, value, annotation }))
      }
      const latestBlock = state.blocks.at(-1)!.block
      const { oldestVersion, oldestBlock } = state.ledger ?? { oldestVersion: version, oldestBlock: latestBlock }
      state.ledger = { ...state.ledger, chainId, latestVersion: version, latestBlock, oldestVersion, oldestBlock }
    }
    this.#watch.notice()
  }

  #write(key: string, revision: Revision): void {
    const revisions = this.#store.revisions.get(key) ?? []
    if (revision.value === null && (revisions.at(-1)?.value ?? null) === null) return
    revisions.push(revision)
    this.#store.revisions.set(key, revisions)
  }

  async prune(retainVersions: bigint, options: PruneOptions = {}): Promise<PruneResult> {
    const state = this.#state
    expectObject('the options of the prune', options)
    const { maxEntries = Number.POSITIVE_INFINITY } = options
    expectCount('maxEntries', maxEntries, 1)
    expectLedger(state.ledger)
    const floor = this.blockAt(windowStart(state.ledger, retainVersions))
    if (floor.firstVersion > state.ledger.oldestVersion) {
      state.ledger = { ...state.ledger, oldestVersion: floor.firstVersion, oldestBlock: floor.block }
      state.blocks = state.blocks.filter(({ firstVersion }) => firstVersion >= floor.firstVersion)
      this.#watch.notice()
    }
    const { oldestVersion } = state.ledger
    const most = Math.ceil(maxEntries / PRUNE_STEP_RECORDS) * PRUNE_STEP_RECORDS
    const droppedEntries = this.#dropUnseen(oldestVersion, most)
    return { oldestVersion, droppedEntries, done: droppedEntries < most }
  }

  #dropUnseen(oldestVersion: bigint, most: number): number {
    const { revisions: all } = this.#store
    let dropped = 0
    for (const [key, revisions] of all) {
      const count = Math.min(unseenCount(revisions, oldestVersion), most - dropped)
      dropped += count
      revisions.splice(0, count)
      if (revisions.length === 0) all.delete(key)
      if (dropped === most) break
    }
    return dropped
  }

  async truncateTo(version: bigint, options: TruncateOptions = {}): Promise<void> {
    const state = this.#state
    validateTruncation(options)
    expectLedger(state.ledger)
    expectKept(version, state.ledger)
    for (const [key, revisions] of state.revisions) {
      const left = revisions.filter((revision) => revision.version <= version)
      if (left.length > 0) state.revisions.set(key, left)
      else state.revisions.delete(key)
    }
    state.blocks = state.blocks.filter(({ firstVersion }) => firstVersion <= version)
    state.mark = options.mark && Uint8Array.from(options.mark)
    const { truncations = [], ...before } = state.ledger
    state.ledger = {
      ...before,
      latestVersion: version,
      latestBlock: state.blocks.at(-1)!.block,
      truncations: addTruncation(truncations, nextTruncation(state.ledger, version)),
    }
    this.#watch.notice()
  }

  async putMark(mark: Uint8Array): Promise<void> {
    const state = this.#state
    expectMark(mark)
    expectLedger(state.ledger)
    state.mark = Uint8Array.from(mark)
  }

  async beginImport(version: bigint, options: ImportOptions = {}): Promise<StateImport> {
    const state = this.#state
    expectU64('the version of the import', version)
    expectObject('the options of the import', options)
    if (state.ledger) throw importNeedsEmptyStore()
    if (!options.resume || state.import?.version !== version) state.import = new MemoryImport(version)
    const current = state.import
    const expectCurrent = () => {
      if (this.#state.import !== current) throw importReplaced(version)
    }
    return {
      version,
      get entryCount() {
        return current.revisions.size
      },
      get mark() {
        return current.mark && Uint8Array.from(current.mark)
      },
      async add(entries, mark) {
        expectCurrent()
        current.add(entries, mark)
      },
      finish: async (base) => {
        expectCurrent()
        this.#finishImport(current, base)
      },
    }
  }

  async unfinishedImport(): Promise<UnfinishedImport | undefined> {
    const { import: left } = this.#state
    return left && { version: left.version, mark: left.mark && Uint8Array.from(left.mark) }
  }

  #finishImport({ version, revisions }: MemoryImport, base: ImportBase): void {
    const chainId = validateImportBase(version, base)
    const block = copyOfBlock(base.block)
    const state = this.#store
    state.revisions = revisions
    state.blocks = [{ firstVersion: version, block }]
    state.base = { version, complete: base.complete ?? true }
    state.mark = base.mark && Uint8Array.from(base.mark)
    state.ledger = { chainId, latestVersion: version, latestBlock: block, oldestVersion: version, oldestBlock: block }
    state.import = undefined
    this.#watch.notice()
  }

  /** Checks that a version can still be read. `asked` is the ledger at the time when the version was asked for. */
  #expectVisible(version: bigint, asked: LedgerSummary): void {
    const { oldestVersion } = this.#state.ledger!
    expectNotTruncated(version, asked, this.#state.ledger)
    if (version < oldestVersion) throw versionPruned(version, oldestVersion)
  }

  #find(key: Uint8Array, version: bigint, asked: LedgerSummary): StateEntry | undefined {
    expectBytes('the key', key)
    this.#expectVisible(version, asked)
    const revision = this.#state.revisions
      .get(bytesToHexDigits(key))
      ?.findLast((candidate) => candidate.version <= version)
    if (!revision?.value) return undefined
    const { value, annotation } = copyOfRevision(revision)
    return { version: revision.version, value: value!, ...(annotation && { annotation }) }
  }

  *#scan(prefix: string, version: bigint, { start, limit }: ScanRange, asked: LedgerSummary): Generator<KeyedEntry> {
    let left = limit
    for (const text of this.#state.revisions.keysFrom(bytesToHexDigits(start), prefix)) {
      if (left <= 0) return
      const key = hexToBytes(text)
      const entry = this.#find(key, version, asked)
      if (!entry) continue
      left--
      yield { key, ...entry }
    }
  }
}

class MemoryImport {
  readonly version: bigint
  readonly revisions = new SortedMap<Revision[]>()
  mark: Uint8Array | undefined

  constructor(version: bigint) {
    this.version = version
  }

  add(entries: readonly KeyedEntry[], mark: Uint8Array | undefined): void {
    validateImportPart(this.version, entries, mark)
    const added = new Map<string, Revision[]>()
    for (const entry of entries) {
      const text = bytesToHexDigits(entry.key)
      if (this.revisions.has(text) || added.has(text)) throw duplicateKey(this.version)
      added.set(text, [copyOfRevision(entry)])
    }
    for (const [text, revisions] of added) this.revisions.set(text, revisions)
    this.mark = mark && Uint8Array.from(mark)
  }
}

/** Number of the oldest revisions of a key that no version of the window sees. */
function unseenCount(revisions: readonly Revision[], oldestVersion: bigint): number {
  const newestBelow = revisions.findLastIndex(({ version }) => version <= oldestVersion)
  if (newestBelow < 0) return 0
  return revisions[newestBelow]!.value === null ? newestBelow + 1 : newestBelow
}

function copyOfRevision({ version, value, annotation }: Revision): Revision {
  const copy = { version, value: value && Uint8Array.from(value) }
  return annotation ? { ...copy, annotation: Uint8Array.from(annotation) } : copy
}

function copyOfBlock({ height, epoch, timestampUsec }: BlockInfo): BlockInfo {
  return { height, epoch, timestampUsec }
}
