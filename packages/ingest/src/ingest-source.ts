import { Buffer } from 'node:buffer'
import {
  CHECKPOINT_KEY,
  isLedgerStateError,
  type KeyedEntry,
  STATE_ROOT_KEY,
  TRANSACTIONS_KEY,
  type VersionWrites,
  type Write,
} from '@ledger-state/core'
import {
  type AsyncSnapshot,
  type AsyncStateSnapshot,
  type AsyncStateWriter,
  engineToAsync,
  type LedgerInfo,
  type StateImport,
  type StateWriter,
} from '@ledger-state/engine'
import type { LedgerSource, PackedEnding, Reading, SourceProgress, StateBase } from '@ledger-state/feed'
import { Batch } from './batch.js'
import { type ChainIds, expectSameChain, resolveChainId } from './chain-id.js'
import { type CommitMark, decodeCommitMark, encodeCommitMark, type SignedRange } from './commit-mark.js'
import { CountedIngest, type IngestCounters, type ProgressReporter } from './counters.js'
import { endingWrites } from './epoch-endings.js'
import {
  atPlace,
  gapBeforeFirst,
  otherWrites,
  stateWithoutBase,
  storeNotEmpty,
  versionGap,
  versionsWithoutBase,
} from './errors.js'
import { expectSameVersion } from './expect-same-version.js'
import { withPending } from './pending-writes.js'
import { PRUNE_TURN_ENTRIES, type PruneObserver, pruneTurn } from './prune-turn.js'
import { compareWithSigned, keepContradiction } from './signed-range.js'
import { isMarkOfImport, markOfImport, sourceMarkOf } from './slices/import-mark.js'
import { SliceFilter, type SliceOptions } from './slices/slice-filter.js'
import { SlicedImport } from './slices/sliced-import.js'
import type { PassOptions } from './slices/state-slice.js'
import { TransactionKeeper } from './transaction-keeper.js'
import { keyName, WritesHash } from './writes-hash.js'

/** Settings of an ingest: its versions, its window, and who receives progress and notices. */
export interface IngestOptions {
  /** First version to ingest, for an empty store. */
  readonly from?: bigint | undefined
  /** Last version to ingest. */
  readonly to?: bigint | undefined
  /** Chain id for a source that does not carry it. */
  readonly chainId?: bigint | number | undefined
  /** Lets an empty store begin above version 0 without a state, as if nothing had been written before. */
  readonly assumeEmptyBase?: boolean | undefined
  /**
   * Keeps the transactions of the versions that write, where the source carries them: `KeptTransaction` of core. A store that keeps
   * them continues without being asked. False by default.
   */
  readonly keepTransactions?: boolean | undefined
  /**
   * Keeps a slice of the ledger in a store that is empty. A store that keeps a slice continues with it also without this option;
   * with another slice than its own it is refused.
   */
  readonly only?: SliceOptions | undefined
  /** Window in versions, to which the store is pruned between commits. */
  readonly retain?: bigint | undefined
  /** Stops at the end of a block, unless the source takes longer to get there; what was read is committed. */
  readonly signal?: AbortSignal | undefined
  readonly progress?: ProgressReporter | undefined
  readonly observer?: IngestObserver | undefined
  /** Receives one line for people. */
  readonly onNotice?: ((message: string) => void) | undefined
}

/** How long a live source may take to give the rest of a block once the ingest is stopped. */
const BLOCK_END_PATIENCE_MS = 2_000

/** Receives what an ingest has done, for metrics. */
export interface IngestObserver extends PruneObserver {
  /** What one commit took: `bytes` are those of keys and values. */
  onCommit(done: {
    readonly versions: number
    readonly writes: number
    readonly bytes: number
    readonly seconds: number
  }): void
  /** Called when the source has reported its progress. */
  onSourceProgress(progress: SourceProgress): void
}

/**
 * Commits what a source holds and the store does not. Versions that the store has are skipped, so the same call resumes an
 * ingest that was cut short; the newest of them is compared, if the source still has it. If the source fails, everything
 * before the failure is committed first. Leaves source and store open.
 * @throws errors of the source and of the store, naming the place in the source; `ledger_fork`, `chain_id_mismatch`,
 *   `version_gap`, `base_missing`, `store_not_empty`; `invalid_argument` where neither source nor options give the chain id
 * @example
 * ```ts
 * import { writeFileSync } from 'node:fs'
 * import { feedHeaderLine, openSource, versionToFeedLine } from '@ledger-state/feed'
 * import { ingestSource } from '@ledger-state/ingest'
 * import { createMemoryEngine } from '@ledger-state/engine'
 *
 * const block = { height: 0n, epoch: 0n, timestampUsec: 0n }
 * const writes = [[Uint8Array.of(1), Uint8Array.of(0xaa)]] as const
 * const lines = [feedHeaderLine({ chainId: 4 }), versionToFeedLine({ version: 0n, block, writes })]
 * writeFileSync('two.ndjson', `${lines.join('\n')}\n`)
 *
 * const engine = createMemoryEngine()
 * const source = await openSource('two.ndjson')
 * console.log(await ingestSource(engine, source)) // writes: 1
 * await source.close()
 * ```
 */
export async function ingestSource(
  engine: StateWriter | AsyncStateWriter,
  source: LedgerSource,
  options: IngestOptions = {},
): Promise<IngestCounters> {
  const writer = engine.kind === 'sync' ? engineToAsync(engine) : engine
  const { ledger } = await writer.snapshot()
  const counters = new CountedIngest(ledger?.latestVersion)
  await ingestWith(writer, source, options, counters)
  return counters
}

/** `ingestSource` that adds what it ingests to given counters. */
export async function ingestWith(
  writer: AsyncStateWriter,
  source: LedgerSource,
  options: IngestOptions,
  counters: CountedIngest,
): Promise<void> {
  await new Ingest(writer, source, options, counters).run()
}

class Ingest {
  readonly #engine: AsyncStateWriter
  readonly #source: LedgerSource
  readonly #options: IngestOptions
  readonly #batch = new Batch()
  readonly #counters: CountedIngest
  #isUnprovenNoticed = false
  /** Ends of epochs that are believed, and not kept yet. */
  #endingsLeft: readonly PackedEnding[] = []
  /** Undefined where all is kept. */
  #filter: SliceFilter | undefined

  constructor(engine: AsyncStateWriter, source: LedgerSource, options: IngestOptions, counters: CountedIngest) {
    this.#engine = engine
    this.#source = source
    this.#options = options
    this.#counters = counters
  }

  async run(): Promise<void> {
    const { progress } = this.#options
    expectSameChain(this.#chainIds, this.#source.position)
    try {
      this.#endingsLeft = await compareWithSigned(this.#engine, this.#source)
      this.#filter = await SliceFilter.open(this.#engine, this.#source, this.#options.only?.spec)
      if (this.#source.base) await this.#importBase(this.#source.base)
      if (!this.#isStopped) await this.#commitVersions()
    } catch (error) {
      await this.#flush()
      if (isLedgerStateError(error, 'unsigned_contradicted')) await keepContradiction(this.#engine, error.fields)
      throw error
    } finally {
      progress?.finish()
    }
    await this.#flush()
    while (!this.#isStopped && !(await this.#prune(PRUNE_TURN_ENTRIES)));
  }

  get #isStopped(): boolean {
    return this.#options.signal?.aborted === true
  }

  /** Fills an empty store with a state, and resumes where an import was cut short. */
  async #importBase(base: StateBase): Promise<void> {
    const held = this.#engine.ledger
    if (held && held.latestVersion >= base.version) return
    if (held) throw storeNotEmpty(base.version, held.latestVersion)
    if (!base.complete && !this.#options.assumeEmptyBase) throw stateWithoutBase(this.#source.position, base.version)
    const slice = this.#filter && new SlicedImport(this.#filter, this.#options.only!, base.version)
    const state = await this.#beginImport(base.version, slice?.digest)
    try {
      if (slice && !(await slice.findMembers(this.#source, this.#passOptions))) return
      await this.#importParts(state, base, slice)
    } catch (error) {
      // Nothing is left of a slice that was refused.
      const isRefused = isLedgerStateError(error, 'slice_unbounded') || isLedgerStateError(error, 'slice_mismatch')
      if (isRefused) await this.#engine.beginImport(base.version, { resume: false })
      throw error
    } finally {
      slice?.close()
    }
  }

  /** Begins or resumes an import, whose mark says from the first moment on what slice it keeps. */
  async #beginImport(version: bigint, digest: Uint8Array | undefined): Promise<StateImport> {
    const begun = await this.#engine.beginImport(version, { resume: true })
    const isOther = !isMarkOfImport(begun.mark, digest)
    if (isOther) this.#notice('the import that was cut short kept another part of the state: it begins anew')
    const state = isOther ? await this.#engine.beginImport(version, { resume: false }) : begun
    if (digest && state.mark === undefined) await state.add([], markOfImport(undefined, digest))
    return state
  }

  get #passOptions(): Omit<PassOptions, 'reopen'> {
    return {
      onNotice: (message) => this.#notice(message),
      signal: this.#options.signal,
      onPart: (source) => this.#options.progress?.update(this.#counters, source.progress),
    }
  }

  async #importParts(state: StateImport, base: StateBase, slice: SlicedImport | undefined): Promise<void> {
    const { complete } = base
    if (state.entryCount > 0) this.#notice(`resuming after entry ${state.entryCount} of the state`)
    else if (base.stateRoot) {
      const root = { key: STATE_ROOT_KEY, version: base.version, value: base.stateRoot }
      await state.add([root], state.mark)
    }
    for await (const part of base.parts(sourceMarkOf(state.mark, slice?.digest))) {
      const entries = slice ? slice.keep(part, this.#source.position) : part.entries
      if (entries.length > 0) await this.#atPlace(() => state.add(entries, markOfImport(part.mark, slice?.digest)))
      this.#counters.addState(part)
      this.#options.observer?.onSourceProgress(this.#source.progress)
      this.#options.progress?.update(this.#counters, this.#source.progress)
      if (this.#isStopped) return
    }
    const description = base.describe()
    if (slice) await this.#atPlace(() => slice.addRecords(state))
    await this.#importVouching(state, base)
    const mark = encodeCommitMark({
      isUnproven: description.mark === undefined,
      source: description.mark,
      writesHash: WritesHash.begin(base.version).value,
      wholeHash: undefined,
      signed: this.#signedUpTo(base.version, undefined, undefined),
      contradicted: undefined,
      pending: [],
    })
    await this.#atPlace(() => state.finish({ ...description, mark, complete }))
    this.#counters.latestVersion = base.version
  }

  /** Adds what vouches for a state. What an import that was cut short just here added is there already. */
  async #importVouching(state: StateImport, { version, checkpoint }: StateBase): Promise<void> {
    const writes = await endingWrites(undefined, this.#source.takeEndings?.() ?? [])
    if (checkpoint) writes.push([CHECKPOINT_KEY, checkpoint])
    const entries = writes.map(([key, value]) => ({ key, version, value: value! }))
    const addNew = async (some: readonly KeyedEntry[]): Promise<boolean> => {
      try {
        await state.add(some, state.mark)
        return true
      } catch (error) {
        if (!isLedgerStateError(error, 'duplicate_key')) throw error
        return false
      }
    }
    if (entries.length === 0 || (await addNew(entries))) return
    for (const entry of entries) await addNew([entry])
  }

  async #commitVersions(): Promise<void> {
    const { from, to } = this.#options
    const held = this.#engine.ledger
    let expected = held && held.latestVersion + 1n
    if (expected !== undefined && from !== undefined && from > expected) throw gapBeforeFirst(from, expected)
    const isEnough = () => to !== undefined && expected !== undefined && expected > to
    if (isEnough()) return
    /** Mark of the source after the newest version of the batch: taken where the next version may not join it. */
    let mark: Uint8Array | undefined
    let isStopping = false
    const transactions = await this.#transactionKeeper()
    // Begins with the newest version held, to compare it.
    for await (const record of this.#source.versions(await this.#readingFrom(held?.latestVersion ?? from))) {
      if (isStopping && record.block) return await this.#flush(mark)
      if (expected === undefined) {
        if (record.version < (from ?? 0n) || !this.#mayBeginAt(record)) continue
        expected = record.version
      }
      if (record.version === held?.latestVersion) {
        const held = this.#filter?.heldPart(record) ?? record
        const { accumulatorRoot } = record
        await expectSameVersion(await this.#engine.snapshot(), held, this.#source.position, accumulatorRoot)
      }
      if (record.version > expected) throw versionGap(this.#source.position, record.version, expected)
      if (record.version === expected) {
        expected++
        if (record.block && this.#batch.isFull) await this.#flush(mark)
        const kept = this.#filter ? await this.#filter.keep(record) : record
        const whole = this.#filter && this.#source.isStore ? record : undefined
        this.#batch.add(kept, transactions.writesOf(kept), whole)
        if (this.#batch.isOverfull) await this.#flush()
      }
      isStopping = this.#isStopped
      if (isEnough() || (isStopping && this.#batch.isEmpty)) break
      if (isStopping || this.#batch.isFull) mark = this.#source.mark
    }
  }

  async #transactionKeeper(): Promise<TransactionKeeper> {
    const state = await this.#engine.snapshot()
    const isKept = state.ledger !== undefined && (await state.at().load([TRANSACTIONS_KEY]))[0] !== undefined
    return new TransactionKeeper({
      isKept,
      isAsked: this.#options.keepTransactions === true,
      isEmpty: state.ledger === undefined,
      onNotice: (message) => this.#notice(message),
    })
  }

  async #readingFrom(version: bigint | undefined): Promise<Reading> {
    const state = await this.#engine.snapshot()
    const { source, signed } = decodeCommitMark(state.mark)
    return {
      version,
      mark: source,
      vouching: signed,
      read: async (key) => (state.ledger ? (await state.at().load([key]))[0]?.value : undefined),
      signal: this.#sourceEnd(),
      onIdle: async () => {
        await this.#flush()
        await this.#prune(PRUNE_TURN_ENTRIES)
        this.#options.observer?.onSourceProgress(this.#source.progress)
      },
    }
  }

  /** Ends the source some time after the ingest is stopped; at once if no block is begun. */
  #sourceEnd(): AbortSignal {
    const end = new AbortController()
    const onStop = (): void => {
      if (this.#batch.isEmpty) end.abort()
      else setTimeout(() => end.abort(), BLOCK_END_PATIENCE_MS).unref()
    }
    const { signal } = this.#options
    if (signal?.aborted) onStop()
    else signal?.addEventListener('abort', onStop, { once: true })
    return end.signal
  }

  /** Whether an empty store can begin with a version: with 0, or, if an empty base is assumed, with the first of a block. */
  #mayBeginAt({ version, block }: VersionWrites): boolean {
    if (version === 0n) return true
    if (!this.#options.assumeEmptyBase) throw versionsWithoutBase(this.#source.position, version)
    if (!block) return false
    this.#notice(`begins at version ${version} on an assumed empty base: what was written before is not known`)
    return true
  }

  #notice(message: string): void {
    this.#options.onNotice?.(message)
  }

  get #chainIds(): ChainIds {
    const toBigint = (id: bigint | number | undefined) => (id === undefined ? undefined : BigInt(id))
    return {
      held: this.#engine.ledger?.chainId,
      told: toBigint(this.#source.chainId),
      asked: toBigint(this.#options.chainId),
    }
  }

  /** @param source its mark after the newest version of the batch */
  async #flush(source = this.#source.mark): Promise<void> {
    const { progress, observer } = this.#options
    if (this.#batch.isEmpty) return
    const { versions: taken, whole, writes, bytes } = this.#batch.take()
    const chainId = resolveChainId(this.#chainIds, this.#source.position)
    const held = await this.#engine.snapshot()
    const before = held.ledger && decodeCommitMark(held.mark)
    // Another store has the same writes, and knows nothing of those that are pending.
    const pending = this.#source.isStore ? [] : (before?.pending ?? [])
    const leftOut = this.#filter?.leftOut?.take()
    const counted = leftOut ? withLastWrites(taken, [leftOut]) : taken
    const versions = withPending(await this.#withEndings(held, counted), pending)
    const writesHash = await this.#hashWrites(held, before?.writesHash, versions)
    const computed = this.#filter && this.#hashWhole(held.ledger, before?.wholeHash, whole)
    this.#expectSameWrites(versions.at(-1)!.version, this.#filter ? computed : writesHash)
    const wholeHash = this.#filter && (computed ?? this.#takeWholeHash(versions.at(-1)!.version))
    const signed = this.#signedUpTo(versions.at(-1)!.version, held.ledger, before)
    const isUnproven = source === undefined || before?.isUnproven === true
    const mark = encodeCommitMark({
      isUnproven,
      source,
      writesHash,
      wholeHash,
      signed,
      contradicted: undefined,
      pending: this.#source.isStore ? (before?.pending ?? []) : [],
    })
    const began = performance.now()
    await this.#atPlace(() => this.#engine.commit(versions, { chainId, mark }))
    this.#filter?.settle()
    observer?.onCommit({ versions: versions.length, writes, bytes, seconds: (performance.now() - began) / 1_000 })
    this.#counters.addVersions(versions, writes, bytes)
    // Twice as many as were written: the store shrinks to a window that was made smaller, and commits wait only a little.
    await this.#prune(2 * writes)
    observer?.onSourceProgress(this.#source.progress)
    progress?.update(this.#counters, this.#source.progress)
  }

  /** The last of some versions also writes the ends of epochs that vouch for them. */
  async #withEndings(held: AsyncSnapshot, versions: readonly VersionWrites[]): Promise<readonly VersionWrites[]> {
    const { vouching } = this.#source
    const believed = [...this.#endingsLeft, ...(this.#source.takeEndings?.() ?? [])]
    this.#endingsLeft = []
    const endings = vouching && (await endingWrites(held, believed))
    if (!endings?.length) return versions
    return withLastWrites(versions, endings)
  }

  /**
   * How far the store is signed once it holds a version of the source: a source that nothing vouches for lowers nothing, and
   * no source vouches for versions that were not proven.
   * @param held the ledger before; undefined where the store is empty
   * @param before the mark of that ledger
   */
  #signedUpTo(version: bigint, held: LedgerInfo | undefined, before: CommitMark | undefined): SignedRange | undefined {
    const { vouching } = this.#source
    if (vouching && !before?.isUnproven) return { version, ...vouching }
    if (vouching && !this.#isUnprovenNoticed) {
      this.#isUnprovenNoticed = true
      this.#notice('no signature vouches for this store: it holds versions from a source that proves nothing')
    }
    if (!before?.signed || before.signed.version !== held?.latestVersion) return before?.signed
    const { signed, source, writesHash, wholeHash } = before
    return { ...signed, resume: { source, writesHash, wholeHash } }
  }

  /** The hash of all writes after these versions. Undefined where the store was begun without one. */
  async #hashWrites(
    state: AsyncSnapshot,
    held: Uint8Array | undefined,
    versions: readonly VersionWrites[],
  ): Promise<Uint8Array | undefined> {
    if (state.ledger && !held) return undefined
    const hash = held ? new WritesHash(held) : WritesHash.begin(versions[0]!.version)
    const present = await this.#presentKeys(state, deletedKeys(versions))
    hash.add(versions, (key) => present.has(keyName(key)))
    return hash.value
  }

  /**
   * The hash of all writes of the source, which only a source that is another store is asked for. It writes no deletions of what
   * was not there.
   */
  #hashWhole(
    held: LedgerInfo | undefined,
    before: Uint8Array | undefined,
    versions: readonly VersionWrites[],
  ): Uint8Array | undefined {
    if ((held && !before) || !this.#source.isStore) return undefined
    const hash = before ? new WritesHash(before) : WritesHash.begin(versions[0]!.version)
    hash.add(versions, () => true)
    return hash.value
  }

  /**
   * The hash of all writes that the source has at a version, of a slice that was begun from another source: from there on the slice
   * computes it itself, and compares.
   */
  #takeWholeHash(version: bigint): Uint8Array | undefined {
    const { isStore, checkpoint } = this.#source
    if (!isStore || checkpoint?.version !== version) return undefined
    this.#notice(
      `the slice did not begin with a snapshot of this source: the hash of all writes is compared with the source's from version ${version} on, and nothing outside the slice before that`,
    )
    return checkpoint.writesHash
  }

  /** @throws `ledger_fork` where the source has another hash at a version */
  #expectSameWrites(version: bigint, hash: Uint8Array | undefined): void {
    const { checkpoint } = this.#source
    if (hash && checkpoint?.version === version && Buffer.compare(checkpoint.writesHash, hash) !== 0) {
      throw otherWrites(this.#source.position, version)
    }
  }

  /** The names of those keys that the store holds. */
  async #presentKeys(state: AsyncStateSnapshot, keys: readonly Uint8Array[]): Promise<ReadonlySet<string>> {
    if (!state.ledger || keys.length === 0) return new Set()
    const entries = await state.at().load(keys)
    return new Set(keys.filter((_, at) => entries[at] !== undefined).map(keyName))
  }

  /** Prunes one turn. Answers whether nothing is left to prune. */
  async #prune(maxEntries: number): Promise<boolean> {
    const { retain, observer } = this.#options
    return retain === undefined || (await pruneTurn(this.#engine, retain, maxEntries, observer))
  }

  /** Runs work of the store, whose errors gain the place in the source. */
  async #atPlace(work: () => Promise<void>): Promise<void> {
    try {
      await work()
    } catch (error) {
      throw isLedgerStateError(error) ? atPlace(error, this.#source.position) : error
    }
  }
}

function deletedKeys(versions: readonly VersionWrites[]): Uint8Array[] {
  return versions.flatMap(({ writes }) => writes.flatMap(([key, value]) => (value === null ? [key] : [])))
}

/** The last of some versions makes further writes. */
function withLastWrites(versions: readonly VersionWrites[], writes: readonly Write[]): readonly VersionWrites[] {
  const last = versions.at(-1)!
  return [...versions.slice(0, -1), { ...last, writes: [...last.writes, ...writes] }]
}
