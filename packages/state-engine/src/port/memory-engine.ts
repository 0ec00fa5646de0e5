import { Buffer } from 'node:buffer'
import type {
  Block,
  BlockInfo,
  HistoryOptions,
  KeyedEntry,
  LedgerInfo,
  Revision,
  ScanOptions,
  StateEntry,
  StoreBase,
  VersionWrites,
  Write,
} from '@ledger-state/core'
import { LedgerStateError } from '@ledger-state/core'
import { validateMark } from '../databases/mark.js'
import type { CommitOptions, EngineView, ImportOptions, PruneResult, StateImport, StateWriter } from './ports.js'
import { newestBlockWhere } from './search-blocks.js'
import {
  chainIdToBigint,
  duplicateKey,
  expectKept,
  noLedger,
  validateBatch,
  validateImport,
  versionPruned,
  windowStart,
} from './validate-batch.js'

/** An engine that keeps every revision of every key in memory: plain, slow in deep histories, and the model in tests. */
export function createMemoryEngine(): StateWriter {
  return new MemoryEngine()
}

class MemoryEngine implements StateWriter {
  ledger: LedgerInfo | undefined
  base: StoreBase | undefined
  mark: Uint8Array | undefined
  /** Revisions of each key, oldest first. */
  #revisions = new Map<string, Revision[]>()
  #blocks: { readonly firstVersion: bigint; readonly block: BlockInfo }[] = []
  #import: MemoryImport | undefined

  at(version?: bigint): EngineView {
    const { ledger } = this
    if (!ledger) throw noLedger()
    const wanted = version ?? ledger.latestVersion
    expectKept(wanted, ledger)
    const getEntry = (key: Uint8Array) => this.#find(key, wanted)
    const get = (key: Uint8Array) => getEntry(key)?.value
    const scan = (prefix: Uint8Array, options: ScanOptions = {}) => this.#scan(keyText(prefix), wanted, options)
    const has = (key: Uint8Array) => get(key) !== undefined
    return { version: wanted, ledger, getEntry, get, peek: get, has, getMany: (keys) => keys.map(get), scan }
  }

  blockAt(version: bigint): Block {
    if (!this.ledger) throw noLedger()
    expectKept(version, this.ledger)
    const at = this.#blocks.findLastIndex(({ firstVersion }) => firstVersion <= version)
    const next = this.#blocks[at + 1]
    return { ...this.#blocks[at]!, lastVersion: next ? next.firstVersion - 1n : this.ledger.latestVersion }
  }

  blockByHeight(height: bigint): Block | undefined {
    const found = this.#newestBlockWhere((block) => block.height <= height)
    return found?.block.height === height ? found : undefined
  }

  blockAtTime(timestampUsec: bigint): Block | undefined {
    return this.#newestBlockWhere((block) => block.timestampUsec <= timestampUsec)
  }

  #newestBlockWhere(holds: (block: BlockInfo) => boolean): Block | undefined {
    if (!this.ledger) throw noLedger()
    return newestBlockWhere(this.ledger, (version) => this.blockAt(version), holds)
  }

  *history(key: Uint8Array, { first = 0n, last, order = 'newestFirst' }: HistoryOptions = {}): Generator<Revision> {
    if (!this.ledger) throw noLedger()
    const end = last ?? this.ledger.latestVersion
    const found = (this.#revisions.get(keyText(key)) ?? []).filter(({ version }) => version >= first && version <= end)
    yield* order === 'newestFirst' ? found.toReversed() : found
  }

  *versions(first: bigint, last: bigint): Generator<VersionWrites> {
    const { ledger } = this
    if (!ledger) throw noLedger()
    expectKept(last, ledger)
    if (first <= ledger.oldestVersion) throw versionPruned(first, ledger.oldestVersion)
    for (let version = first; version <= last; version++) {
      const writes: Write[] = []
      for (const [key, revisions] of [...this.#revisions].sort(([a], [b]) => (a < b ? -1 : 1))) {
        const revision = revisions.find((candidate) => candidate.version === version)
        if (revision) writes.push([Buffer.from(key, 'latin1'), revision.value])
      }
      const block = this.#blocks.find(({ firstVersion }) => firstVersion === version)?.block
      yield { version, block, writes }
    }
  }

  async commit(versions: readonly VersionWrites[], { chainId, mark }: CommitOptions): Promise<void> {
    validateMark(mark)
    validateBatch(versions, chainId, this.ledger)
    for (const { version, writes } of versions) {
      if (new Set(writes.map(([key]) => keyText(key))).size !== writes.length) throw duplicateKey(version)
    }
    if (versions.length === 0) return
    this.#import = undefined
    this.mark = mark && Uint8Array.from(mark)
    this.base ??= { version: versions[0]!.version, complete: versions[0]!.version === 0n }
    for (const { version, block, writes } of versions) {
      if (block) this.#blocks.push({ firstVersion: version, block })
      for (const [key, value] of writes) {
        const revisions = this.#revisions.get(keyText(key)) ?? []
        if (value === null && (revisions.at(-1)?.value ?? null) === null) continue
        revisions.push({ version, value: value && Uint8Array.from(value) })
        this.#revisions.set(keyText(key), revisions)
      }
      const latestBlock = this.#blocks.at(-1)!.block
      const { oldestVersion, oldestBlock } = this.ledger ?? { oldestVersion: version, oldestBlock: latestBlock }
      this.ledger = {
        chainId: chainIdToBigint(chainId),
        latestVersion: version,
        latestBlock,
        oldestVersion,
        oldestBlock,
      }
    }
  }

  async prune(retainVersions: bigint): Promise<PruneResult> {
    if (!this.ledger) throw noLedger()
    const start = windowStart(this.ledger.latestVersion, retainVersions)
    const floor = this.#blocks.find(({ firstVersion }) => firstVersion >= start) ?? this.#blocks.at(-1)!
    const oldestVersion = floor.firstVersion
    if (oldestVersion <= this.ledger.oldestVersion)
      return { oldestVersion: this.ledger.oldestVersion, droppedEntries: 0, done: true }
    this.ledger = { ...this.ledger, oldestVersion, oldestBlock: floor.block }
    this.#blocks = this.#blocks.filter(({ firstVersion }) => firstVersion >= oldestVersion)
    let droppedEntries = 0
    for (const [key, revisions] of this.#revisions) {
      const newestBelow = revisions.findLastIndex(({ version }) => version <= oldestVersion)
      const kept = revisions.slice(Math.max(newestBelow, 0))
      if (kept[0]!.value === null && kept[0]!.version <= oldestVersion) kept.shift()
      droppedEntries += revisions.length - kept.length
      if (kept.length > 0) this.#revisions.set(key, kept)
      else this.#revisions.delete(key)
    }
    return { oldestVersion, droppedEntries, done: true }
  }

  async beginImport(version: bigint, { resume = false }: ImportOptions = {}): Promise<StateImport> {
    validateImport(version, undefined)
    if (this.ledger) throw new LedgerStateError('store_not_empty', 'a state is imported into an empty store only')
    if (!resume || this.#import?.version !== version) this.#import = new MemoryImport(version)
    const state = this.#import
    const expectCurrent = () => {
      if (this.#import === state) return
      throw new LedgerStateError('invalid_argument', `the import of version ${version} is no longer under way`)
    }
    return {
      version,
      get entryCount() {
        return state.revisions.size
      },
      get mark() {
        return state.mark
      },
      async add(entries, mark) {
        expectCurrent()
        state.add(entries, mark)
      },
      finish: async (base) => {
        expectCurrent()
        validateImport(version, base)
        const { chainId, block, mark, complete = true } = base
        this.#revisions = state.revisions
        this.#blocks = [{ firstVersion: version, block }]
        this.base = { version, complete }
        this.mark = mark
        this.ledger = {
          chainId: chainIdToBigint(chainId),
          latestVersion: version,
          latestBlock: block,
          oldestVersion: version,
          oldestBlock: block,
        }
        this.#import = undefined
      },
    }
  }

  #find(key: Uint8Array, version: bigint): StateEntry | undefined {
    const { oldestVersion } = this.ledger!
    if (version < oldestVersion) throw versionPruned(version, oldestVersion)
    const revision = this.#revisions.get(keyText(key))?.findLast((candidate) => candidate.version <= version)
    return revision?.value ? { version: revision.version, value: Uint8Array.from(revision.value) } : undefined
  }

  *#scan(prefix: string, version: bigint, { start, limit }: ScanOptions): Generator<KeyedEntry> {
    const from = start ? keyText(start) : ''
    let left = limit ?? Number.POSITIVE_INFINITY
    const texts = [...this.#revisions.keys()].filter((text) => text.startsWith(prefix) && text >= from)
    for (const text of texts.sort()) {
      if (left <= 0) return
      const key = Buffer.from(text, 'latin1')
      const entry = this.#find(key, version)
      if (!entry) continue
      left--
      yield { key, ...entry }
    }
  }
}

class MemoryImport {
  readonly version: bigint
  readonly revisions = new Map<string, Revision[]>()
  mark: Uint8Array | undefined

  constructor(version: bigint) {
    this.version = version
  }

  add(entries: readonly KeyedEntry[], mark: Uint8Array | undefined): void {
    const added = new Map<string, Revision[]>()
    for (const entry of entries) {
      validateImport(this.version, undefined, entry)
      const text = keyText(entry.key)
      if (this.revisions.has(text) || added.has(text)) throw duplicateKey(this.version)
      added.set(text, [{ version: entry.version, value: Uint8Array.from(entry.value) }])
    }
    for (const [text, revisions] of added) this.revisions.set(text, revisions)
    this.mark = mark && Uint8Array.from(mark)
  }
}

function keyText(key: Uint8Array): string {
  return Buffer.from(key).toString('latin1')
}
