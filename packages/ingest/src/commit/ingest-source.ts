import { Buffer } from 'node:buffer'
import { isLedgerStateError, type VersionWrites, type Write } from '@ledger-state/core'
import {
  type AsyncSnapshot,
  type AsyncStateWriter,
  type CommitOptions,
  engineToAsync,
  type LedgerSummary,
  type StateWriter,
} from '@ledger-state/engine'
import type { LedgerSource, LedgerVersion, Reading } from '@ledger-state/feed'
import {
  type CommitMark,
  decodeCommitMark,
  encodeCommitMark,
  hasImportedPart,
  isHoldingsKey,
  RETAINED_KEY,
  type SignedRange,
  SLICE_KEY,
  TRANSACTIONS_KEY,
  type TrustedState,
  WHOLE_TRANSACTIONS_KEY,
  wholeTransactionsBegin,
} from '@ledger-state/records'
import type { PackedEpochChange } from '@ledger-state/records/epoch-change'
import { WritesHash } from '@ledger-state/records/writes-hash'
import { SliceFilter } from '@ledger-state/slices/take'
import { ledgerFork, versionGap, versionsWithoutBase } from '../errors.js'
import { expiredTransactions } from '../prune/expired-transactions.js'
import { PRUNE_TURN_ENTRIES, pruneTurn } from '../prune/prune-turn.js'
import { endingWrites } from '../signatures/epoch-endings.js'
import { withPending } from '../signatures/pending-writes.js'
import { compareWithSigned, keepContradiction } from '../signatures/signed-range.js'
import { droppedImport, importBase } from './base-import.js'
import { Batch, type TakenBatch } from './batch.js'
import { type ChainIds, expectSameChain, resolveChainId } from './chain-id.js'
import { CountedIngest, type IngestCounters } from './counters.js'
import { expectSameVersion } from './expect-same-version.js'
import { HoldingsKeeper } from './holdings-keeper.js'
import type { IngestOptions } from './ingest-options.js'
import { keptIndexes } from './kept-indexes.js'
import { type ProvenBySource, provenBy } from './proven-by-source.js'
import { RangeFill } from './range-fill.js'
import { TransactionKeeper } from './transaction-keeper.js'
import { ValuesBefore } from './values-before.js'
import { WholeOfStore } from './whole-of-store.js'
import { withPlace } from './with-place.js'

/** Bounds of an ingest that a range bounds. */
const NO_BOUNDS = { from: undefined, to: undefined } as const
/** Time that a live source has for the rest of a block once the ingest is stopped. */
const BLOCK_END_PATIENCE_MS = 2_000

/**
 * Commits the versions of a source that the store does not have. It skips versions that the store has, so the same call
 * resumes an interrupted ingest. It compares the newest of them, if the source still has it. If the source fails,
 * everything before the failure is committed first. Leaves source and store open.
 * @throws errors of the source and of the store, naming the place in the source; `ledger_fork`, `chain_id_mismatch`,
 * `version_gap`, `base_missing`, `store_not_empty`; `invalid_argument` if neither source nor options give the chain id
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

/** Ingests a source as `ingestSource` does, and adds its counts to `counters`. */
export async function ingestWith(
  writer: AsyncStateWriter,
  source: LedgerSource,
  options: IngestOptions,
  counters: CountedIngest,
): Promise<void> {
  await new Ingest(writer, source, options, counters).run()
}

/** The store before a commit, and its mark; undefined if the store is empty. */
interface HeldStore {
  readonly state: AsyncSnapshot
  readonly mark: CommitMark | undefined
}

/** Versions as they are committed, and the hash of all writes up to the last of them. */
interface HashedVersions {
  readonly versions: readonly VersionWrites[]
  readonly writesHash: Uint8Array | undefined
}

class Ingest {
  readonly #engine: AsyncStateWriter
  readonly #source: LedgerSource
  readonly #options: IngestOptions
  readonly #batch = new Batch()
  readonly #counters: CountedIngest
  readonly #holdings: HoldingsKeeper
  readonly #wholeOfStore = new WholeOfStore()
  #transactions: TransactionKeeper | undefined
  #isUnprovenNoticed = false
  /** Whether the source proves its versions; undefined until it yielded one. */
  #isProven: boolean | undefined
  /** Whether the source has yielded a version that is not in the batch. */
  #isSourceAhead = false
  /** Epoch changes that were checked and are not kept yet. */
  #endingsLeft: readonly PackedEpochChange[] = []
  /** Filter of a slice; undefined if everything is kept. */
  #filter: SliceFilter | undefined
  /** The range that is filled; undefined if everything is. */
  #range: RangeFill | undefined
  /** Aborted once the source is read. */
  readonly #ended = new AbortController()

  constructor(engine: AsyncStateWriter, source: LedgerSource, options: IngestOptions, counters: CountedIngest) {
    this.#engine = engine
    this.#source = source
    this.#options = options
    this.#counters = counters
    this.#holdings = new HoldingsKeeper({
      isWanted: options.holdings !== false && options.range === undefined,
      onNotice: (message) => this.#notice(message),
    })
  }

  async run(): Promise<void> {
    const [engine, source, options, counters] = [this.#engine, this.#source, this.#options, this.#counters]
    expectSameChain(this.#chainIds, source.position)
    this.#range = await RangeFill.open(engine, source, options)
    try {
      this.#endingsLeft = await compareWithSigned(engine, source)
      this.#filter = await SliceFilter.open(engine, source, options.only?.spec)
      if (source.base)
        await importBase(
          { engine, source, options, counters, filter: this.#filter, holdings: this.#holdings },
          source.base,
        )
      if (!this.#isStopped) await this.#commitVersions()
    } catch (error) {
      if (!this.#range) await this.#flushBeforeFailure()
      if (isLedgerStateError(error, 'unsigned_contradicted')) await keepContradiction(engine, error.fields)
      throw error
    } finally {
      options.progress?.finish()
      this.#ended.abort()
    }
    // A part of a batch would make the commits of a range depend on when it was stopped.
    if (!this.#range) await this.#flush()
    while (!this.#isStopped && !(await this.#prune(PRUNE_TURN_ENTRIES)));
  }

  get #isStopped(): boolean {
    return this.#options.signal?.aborted === true
  }

  async #commitVersions(): Promise<void> {
    const range = this.#range
    const { from, to } = range ? NO_BOUNDS : this.#options
    const held = this.#engine.ledger
    let expected = held && held.latestVersion + 1n
    if (expected !== undefined && from !== undefined && from > expected) throw versionGap.gapBeforeFirst(from, expected)
    const isEnough = () => to !== undefined && expected !== undefined && expected > to
    if (isEnough()) return
    /** What is proven up to the newest version of the batch. Taken if the next version may not join the batch. */
    let proven: ProvenBySource | undefined
    let isStopping = false
    const transactions = await this.#transactionKeeper()
    this.#transactions = transactions
    // The source begins with the newest version of the store, so that the two can be compared.
    for await (const record of this.#source.versions(
      await this.#readingFrom(held?.latestVersion ?? range?.readFrom ?? from),
    )) {
      this.#isProven ??= this.#source.mark !== undefined
      this.#isSourceAhead = true
      if (isStopping && range) return
      if (isStopping && record.block) return await this.#flush(proven)
      if (expected === undefined) {
        const begins = range ? range.beginsWith(record) : record.version >= (from ?? 0n) && this.#mayBeginAt(record)
        if (!begins) continue
        await this.#noteDroppedImport(record.version)
        expected = record.version
      }
      if (range?.endsBefore(record)) return await this.#flush(range.provenBefore)
      if (record.version === held?.latestVersion) await this.#expectHeld(record)
      if (record.version > expected) throw versionGap.gapAfterStore(this.#source.position, record.version, expected)
      if (record.version === expected) {
        expected++
        await this.#take(record, transactions, proven)
      }
      isStopping = this.#isStopped
      range?.passed(record)
      if (isEnough() || (isStopping && this.#batch.isEmpty)) break
      if (isStopping || this.#batch.isFull) proven = provenBy(this.#source)
    }
    if (range && !this.#isStopped) await this.#flush()
  }

  /** The first commit drops an import of a state that was cut short. */
  async #noteDroppedImport(version: bigint): Promise<void> {
    const left = await this.#engine.unfinishedImport()
    if (left && hasImportedPart(left.mark)) this.#notice(droppedImport(left.version, `begins with version ${version}`))
  }

  /** Expects that the newest version of the store is the same in the source. @throws `ledger_fork` */
  async #expectHeld(record: LedgerVersion): Promise<void> {
    this.#wholeOfStore.note(record)
    const held = this.#filter?.heldPart(record) ?? record
    await expectSameVersion(await this.#engine.snapshot(), held, this.#source.position, record.accumulatorRoot)
  }

  /**
   * Adds a version to the batch. A full batch is committed before a new block, an overfull one in the middle of a
   * block.
   * @param proven what is proven up to the newest version of the batch
   */
  async #take(
    record: LedgerVersion,
    transactions: TransactionKeeper,
    proven: ProvenBySource | undefined,
  ): Promise<void> {
    if (record.block && this.#batch.isFull) await this.#flush(proven)
    const isPart = this.#filter !== undefined && this.#source.isStore
    const isWithBlocks = this.#filter !== undefined && !record.readWhole
    const given = isWithBlocks ? this.#wholeOfStore.withWhole(record, this.#source.hashSalt) : record
    const kept = this.#filter ? await this.#filter.keep(given) : given
    const whole = isPart ? record : undefined
    this.#batch.add(kept, transactions.writesOf(kept), whole)
    this.#holdings.add(kept)
    this.#isSourceAhead = false
    if (this.#batch.isOverfull) await this.#flush()
  }

  async #transactionKeeper(): Promise<TransactionKeeper> {
    const state = await this.#engine.snapshot()
    const keys = [TRANSACTIONS_KEY, WHOLE_TRANSACTIONS_KEY, RETAINED_KEY, SLICE_KEY]
    const marks = state.ledger && (await state.at().load(keys))
    const hasVersions = state.ledger !== undefined && state.ledger.latestVersion !== state.base?.version
    return new TransactionKeeper({
      isKept: marks?.[0] !== undefined || this.#range?.keeps('summary') === true,
      isWhole: marks?.[1] !== undefined || this.#range?.keeps('whole') === true,
      isCut: marks?.[1] !== undefined && wholeTransactionsBegin(marks[1]) === undefined,
      indexes: keptIndexes(marks?.[1]?.value, this.#options.transactionIndexes),
      asked: this.#options.keepTransactions,
      hasVersions,
      slice: this.#filter,
      isCopyOfSlice: !this.#filter && (this.#source.slice !== undefined || marks?.[3] !== undefined),
      areRetained: this.#options.retainTransactions !== undefined,
      hasRetained: marks?.[2] !== undefined,
      timestampUsec: state.ledger?.latestBlock.timestampUsec,
      hashSalt: () => this.#source.hashSalt,
      onNotice: (message) => this.#notice(message),
    })
  }

  async #readingFrom(version: bigint | undefined): Promise<Reading> {
    const state = await this.#engine.snapshot()
    const { source, signed } = decodeCommitMark(state.mark)
    return {
      version,
      mark: source,
      trustedState: signed,
      read: async (key) => (state.ledger ? (await state.at().load([key]))[0]?.value : undefined),
      signal: this.#sourceEnd(),
      onIdle: async () => {
        await this.#flush()
        await this.#prune(PRUNE_TURN_ENTRIES)
        this.#options.observer?.onSourceProgress(this.#source.progress)
      },
    }
  }

  /** Signal that ends the source some time after the ingest is stopped, or at once if no block is begun. */
  #sourceEnd(): AbortSignal {
    const end = new AbortController()
    const onStop = (): void => {
      if (this.#batch.isEmpty) end.abort()
      else setTimeout(() => end.abort(), BLOCK_END_PATIENCE_MS).unref()
    }
    const { signal } = this.#options
    if (signal?.aborted) onStop()
    else signal?.addEventListener('abort', onStop, { once: true, signal: this.#ended.signal })
    return end.signal
  }

  /**
   * Whether an empty store can begin with a version: with 0 or, if an empty base is assumed, with the first of a block.
   */
  #mayBeginAt({ version, block }: VersionWrites): boolean {
    if (version === 0n) return true
    if (!this.#options.assumeEmptyBase) throw versionsWithoutBase(this.#source.position, version)
    if (!block) return false
    this.#notice(`the store begins at version ${version} on an assumed empty base: earlier writes are unknown`)
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

  /**
   * Commits the batch, and prunes a turn.
   * @param proven what is proven up to the newest version of the batch
   */
  async #flush(proven: ProvenBySource = this.#source): Promise<void> {
    if (this.#batch.isEmpty) return
    const batch = this.#batch.take()
    const chainId = resolveChainId(this.#chainIds, this.#source.position)
    const store = await this.#heldStore()
    const complete = await this.#completeWrites(batch.versions, store)
    const { versions, writesHash } = await this.#indexAndHash(complete, store)
    const wholeHash = this.#compareHashes(batch.whole, versions.at(-1)!.version, writesHash, store)
    const mark = this.#markAfter(versions.at(-1)!.version, proven, { writesHash, wholeHash }, store)
    await this.#commit(versions, { chainId, mark }, batch)
    // Prunes twice as many entries as were written. A store therefore shrinks to a smaller window, and commits wait
    // only a little. Versions need not write anything.
    await this.#prune(Math.max(1, 2 * batch.writes))
    this.#report()
  }

  /**
   * Commits the versions before a failure, unless the mark of the source after them is not known. Without it, no later
   * signature would verify the store; with a later one, nothing would prove the next version.
   */
  async #flushBeforeFailure(): Promise<void> {
    const isKnown = !this.#isSourceAhead && this.#source.mark !== undefined
    if (!this.#isProven || isKnown) await this.#flush()
  }

  async #heldStore(): Promise<HeldStore> {
    const state = await this.#engine.snapshot()
    return { state, mark: state.ledger && decodeCommitMark(state.mark) }
  }

  /**
   * Adds to the versions of a batch the store's own records: transactions, counts of omitted writes, ends of
   * epochs, and writes that were pending.
   */
  async #completeWrites(
    taken: readonly VersionWrites[],
    { state, mark }: HeldStore,
  ): Promise<readonly VersionWrites[]> {
    const grouped = this.#transactions?.withGroups(taken) ?? taken
    const leftOut = this.#filter?.leftOut?.take()
    const counted = leftOut ? withLastWrites(grouped, [leftOut]) : grouped
    // Another store has the same writes, and does not know the pending ones.
    const pending = this.#source.isStore ? [] : (mark?.pending ?? [])
    return withPending(await this.#withEndings(state, await this.#withoutExpired(state, counted)), pending)
  }

  /** Adds to the last of some versions the deletions of transactions that were retained long enough. */
  async #withoutExpired(held: AsyncSnapshot, versions: readonly VersionWrites[]): Promise<readonly VersionWrites[]> {
    // A copy of another store gets the deletions of that store.
    if (!held.ledger || this.#source.isStore) return versions
    const { retain = 0n, retainTransactions = retain } = this.#options
    if (retainTransactions === 0n) return versions
    const oldest = versions.at(-1)!.version - retainTransactions + 1n
    const expired = await expiredTransactions(
      held,
      oldest < held.ledger.oldestVersion ? oldest : held.ledger.oldestVersion,
      this.#options.retainTransactions !== undefined,
    )
    return expired.length === 0 ? versions : withLastWrites(versions, expired)
  }

  /** Adds the index of holdings, and hashes all writes if the store has had their hash from its beginning. */
  async #indexAndHash(complete: readonly VersionWrites[], { state, mark }: HeldStore): Promise<HashedVersions> {
    const values = new ValuesBefore()
    const index = await this.#holdings.prepare(state, complete, values)
    const isHashed = !this.#range && (!mark || mark.writesHash !== undefined)
    if (isHashed) for (const key of deletedKeys(complete)) values.askOnce(key)
    await values.load(state)
    const versions = await index()
    return { versions, writesHash: isHashed ? hashWrites(mark?.writesHash, complete, values) : undefined }
  }

  /**
   * Compares the hash of all writes with the source's, if it has one of this version. Returns the hash of all writes of
   * the source, for a slice.
   * @throws `ledger_fork`
   */
  #compareHashes(
    whole: readonly VersionWrites[],
    version: bigint,
    writesHash: Uint8Array | undefined,
    { state, mark }: HeldStore,
  ): Uint8Array | undefined {
    const computed = this.#filter && this.#hashWhole(state.ledger, mark?.wholeHash, whole)
    this.#expectSameWrites(version, this.#filter ? computed : writesHash)
    return this.#filter && (computed ?? this.#takeWholeHash(version))
  }

  #markAfter(
    version: bigint,
    { mark: source, trustedState }: ProvenBySource,
    { writesHash, wholeHash }: Pick<CommitMark, 'writesHash' | 'wholeHash'>,
    { state, mark }: HeldStore,
  ): Uint8Array {
    return encodeCommitMark({
      isUnproven: source === undefined || mark?.isUnproven === true,
      source,
      writesHash,
      wholeHash,
      hashSalt: this.#source.hashSalt ?? mark?.hashSalt,
      signed: this.#signedUpTo(version, trustedState, state.ledger, mark),
      contradicted: undefined,
      pending: this.#source.isStore ? (mark?.pending ?? []) : [],
      range: this.#range?.mark,
    })
  }

  async #commit(
    versions: readonly VersionWrites[],
    options: CommitOptions,
    { writes, bytes }: TakenBatch,
  ): Promise<void> {
    const began = performance.now()
    await withPlace(this.#source, () => this.#engine.commit(versions, options))
    this.#filter?.settle()
    const seconds = (performance.now() - began) / 1_000
    this.#options.observer?.onCommit({ versions: versions.length, writes, bytes, seconds })
    this.#counters.addVersions(versions, writes, bytes)
  }

  #report(): void {
    const { progress, observer } = this.#options
    observer?.onSourceProgress(this.#source.progress)
    progress?.update(this.#counters, this.#source.progress)
  }

  /** Adds to the last of some versions the writes of the epoch changes that verify them. */
  async #withEndings(held: AsyncSnapshot, versions: readonly VersionWrites[]): Promise<readonly VersionWrites[]> {
    const { trustedState } = this.#source
    const verified = [...this.#endingsLeft, ...(this.#source.takeEndings?.() ?? [])]
    this.#endingsLeft = []
    const endings = trustedState && (await endingWrites(held, verified))
    if (!endings?.length) return versions
    return withLastWrites(versions, endings)
  }

  /**
   * Range of versions that are signed once the store holds a version of the source. A source without signatures keeps
   * the range as it is, and no source verifies versions that were not proven.
   * @param trustedState the validators that verify the version
   * @param held ledger of the store before; undefined if it is empty
   * @param before the mark of that ledger
   */
  #signedUpTo(
    version: bigint,
    trustedState: TrustedState | undefined,
    held: LedgerSummary | undefined,
    before: CommitMark | undefined,
  ): SignedRange | undefined {
    if (trustedState && !before?.isUnproven) return { version, ...trustedState }
    if (trustedState && !this.#isUnprovenNoticed) {
      this.#isUnprovenNoticed = true
      this.#notice('the signatures of this store are not verified: it holds versions from a source without proofs')
    }
    if (!before?.signed || before.signed.version !== held?.latestVersion) return before?.signed
    const { signed, source, writesHash, wholeHash } = before
    return { ...signed, resume: { source, writesHash, wholeHash } }
  }

  /**
   * Hash of all writes of the source, which is asked only of a source that is another store. Such a source writes no
   * deletions of absent keys.
   */
  #hashWhole(
    held: LedgerSummary | undefined,
    before: Uint8Array | undefined,
    versions: readonly VersionWrites[],
  ): Uint8Array | undefined {
    if ((held && !before) || !this.#source.isStore) return undefined
    const hash = before ? new WritesHash(before) : WritesHash.begin(versions[0]!.version)
    hash.add(versions, () => true)
    return hash.value
  }

  /**
   * The source's hash of all its writes at a version, for a slice that began with another source. After that version
   * the slice computes the hash itself, and compares.
   */
  #takeWholeHash(version: bigint): Uint8Array | undefined {
    const { isStore, checkpoint } = this.#source
    if (!isStore || checkpoint?.version !== version) return undefined
    this.#notice(
      `the slice did not begin with a snapshot of this source: the hash of all writes is compared with the source's since version ${version}; before it, nothing outside the slice is compared`,
    )
    return checkpoint.writesHash
  }

  /**
   * Compares the source's hash at a version.
   * @throws `ledger_fork` if it differs
   */
  #expectSameWrites(version: bigint, hash: Uint8Array | undefined): void {
    const { checkpoint } = this.#source
    if (hash && checkpoint?.version === version && Buffer.compare(checkpoint.writesHash, hash) !== 0) {
      throw ledgerFork.otherWrites(this.#source.position, version)
    }
  }

  /** Prunes one turn. Returns whether nothing is left to prune. */
  async #prune(maxEntries: number): Promise<boolean> {
    const { retain, observer } = this.#options
    return retain === undefined || (await pruneTurn(this.#engine, retain, maxEntries, observer))
  }
}

/**
 * Hash of all writes up to the last of some versions.
 * @param before hash of the store; undefined if the store is empty
 */
function hashWrites(
  before: Uint8Array | undefined,
  versions: readonly VersionWrites[],
  values: ValuesBefore,
): Uint8Array {
  const hash = before ? new WritesHash(before) : WritesHash.begin(versions[0]!.version)
  hash.add(versions, (key) => values.has(key))
  return hash.value
}

function deletedKeys(versions: readonly VersionWrites[]): Uint8Array[] {
  const keys: Uint8Array[] = []
  for (const { writes } of versions)
    for (const [key, value] of writes) if (value === null && !isHoldingsKey(key)) keys.push(key)
  return keys
}

/** Adds writes to the last of some versions. */
function withLastWrites(versions: readonly VersionWrites[], writes: readonly Write[]): readonly VersionWrites[] {
  const last = versions.at(-1)!
  return [...versions.slice(0, -1), { ...last, writes: [...last.writes, ...writes] }]
}
