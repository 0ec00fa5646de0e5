import { type BlockInfo, isLedgerStateError, LedgerStateError, type VersionWrites } from '@ledger-state/core'
import type { LedgerSource, Reading, SourceProgress, StateBase } from '@ledger-state/feed'
import type { StateEngine } from '@ledger-state/state-engine'
import type { IngestCounters, ProgressReporter } from './progress.js'
import { PRUNE_TURN_ENTRIES, type PruneObserver, pruneTurn } from './prune-turn.js'

// A batch becomes durable with one flush of the disk, and is what a crash may cost. One that is full ends with the block
// at hand, so that readers see whole blocks, unless that block is longer than many batches.
const BATCH_VERSIONS = 1_000
const BATCH_WRITES = 10_000
const BATCH_BYTES = 16 * 1024 * 1024
const OVERFULL_BATCHES = 8

export interface IngestOptions {
  /** First version to take in, for an empty store. */
  readonly from?: bigint | undefined
  /** Last version to take in. */
  readonly to?: bigint | undefined
  /** For a source that does not tell. */
  readonly chainId?: number | undefined
  /** Takes versions above 0 into an empty store: what was written before is taken for nothing. */
  readonly assumeEmptyBase?: boolean | undefined
  /** Window in versions; pruned to while ingesting. */
  readonly retain?: bigint | undefined
  /** Stops between versions; what was read is committed. */
  readonly signal?: AbortSignal | undefined
  readonly progress?: ProgressReporter | undefined
  readonly observer?: IngestObserver | undefined
  readonly onNotice?: ((message: string) => void) | undefined
}

/** Told what an ingest has done, for metrics. */
export interface IngestObserver extends PruneObserver {
  onCommit(done: {
    readonly versions: number
    readonly writes: number
    readonly bytes: number
    readonly seconds: number
  }): void
  onSourceProgress(progress: SourceProgress): void
}

/**
 * Takes in what a source holds and the store does not. Versions that the store has are skipped, so an ingest that was
 * cut short is gone on with by the same call; the newest of them is compared, if the source still has it. What precedes
 * a fault in the source is committed.
 * @throws `invalid_feed`, `invalid_backup`, `verification_failed`, `ledger_fork`, `source_failed`, naming the place;
 *   `chain_id_mismatch`, `version_gap`, `base_missing`; errors of the store
 */
export async function ingestSource(
  engine: StateEngine,
  source: LedgerSource,
  options: IngestOptions = {},
): Promise<IngestCounters> {
  return await new Ingest(engine, source, options).run()
}

class Ingest {
  readonly #engine: StateEngine
  readonly #source: LedgerSource
  readonly #options: IngestOptions
  readonly #batch = new Batch()
  /** Of the source, as of the newest version of a batch that is full and waits for the end of its block. */
  #batchMark: Uint8Array | undefined
  readonly #counters = { versions: 0, entries: 0, writes: 0, bytes: 0, latestVersion: undefined as bigint | undefined }

  constructor(engine: StateEngine, source: LedgerSource, options: IngestOptions) {
    this.#engine = engine
    this.#source = source
    this.#options = options
    this.#counters.latestVersion = engine.ledger?.latestVersion
  }

  async run(): Promise<IngestCounters> {
    const { progress } = this.#options
    this.#expectChain()
    try {
      if (this.#source.base) await this.#takeBase(this.#source.base)
      if (!this.#isStopped) await this.#takeVersions()
    } catch (error) {
      await this.#flush()
      throw error
    } finally {
      progress?.finish()
    }
    await this.#flush()
    while (!this.#isStopped && !(await this.#prune(PRUNE_TURN_ENTRIES)));
    return this.#counters
  }

  get #isStopped(): boolean {
    return this.#options.signal?.aborted === true
  }

  /** Puts a state under an empty store. One that was cut short is gone on with. */
  async #takeBase(base: StateBase): Promise<void> {
    const held = this.#engine.ledger
    if (held && held.latestVersion >= base.version) return
    if (held) {
      const message = `the state at version ${base.version} goes under an empty store; this one holds versions up to ${held.latestVersion}`
      throw new LedgerStateError('store_not_empty', message)
    }
    const { complete } = base
    if (!complete && !this.#options.assumeEmptyBase) {
      throw baseMissing(`${this.#source.position}: the state at version ${base.version} was begun without a base`)
    }
    const state = await this.#engine.beginImport(base.version, { resume: true })
    if (state.entryCount > 0) this.#notice(`going on behind entry ${state.entryCount} of the state`)
    for await (const { entries, mark } of base.parts(state.mark)) {
      await this.#named(() => state.add(entries, mark))
      this.#counters.entries += entries.length
      for (const { key, value } of entries) this.#counters.bytes += key.length + value.length
      this.#options.progress?.update(this.#counters, this.#source.progress)
      if (this.#isStopped) return
    }
    const description = base.describe()
    await this.#named(() => state.finish({ ...description, complete }))
    this.#counters.latestVersion = base.version
  }

  async #takeVersions(): Promise<void> {
    const { from, to } = this.#options
    const held = this.#engine.ledger
    if (held && from !== undefined && from > held.latestVersion + 1n) {
      const message = `version ${from} is asked for, but the store goes on at version ${held.latestVersion + 1n}`
      throw new LedgerStateError('version_gap', message)
    }
    let expected = held && held.latestVersion + 1n
    const isEnough = () => to !== undefined && expected !== undefined && expected > to
    if (isEnough()) return
    // From the newest version held on, so that it can be compared.
    for await (const record of this.#source.versions(this.#readingFrom(held?.latestVersion ?? from))) {
      if (expected === undefined) {
        if (record.version < (from ?? 0n)) continue
        if (!this.#mayBeginAt(record)) continue
        expected = record.version
      }
      if (record.version === held?.latestVersion) this.#expectSame(record)
      if (record.version < expected) continue
      if (record.version > expected) throw versionGap(this.#source, record.version, expected)
      expected++
      if (record.block && this.#batch.isFull) await this.#flush(this.#batchMark)
      this.#batch.add(record)
      if (this.#batch.isOverfull) await this.#flush()
      else if (this.#batch.isFull) this.#batchMark = this.#source.mark
      if (this.#isStopped || isEnough()) break
    }
  }

  #readingFrom(version: bigint | undefined): Reading {
    const engine = this.#engine
    return {
      version,
      mark: engine.mark,
      read: (key) => (engine.ledger ? engine.at().get(key) : undefined),
      signal: this.#options.signal,
      onIdle: async () => {
        await this.#flush()
        await this.#prune(PRUNE_TURN_ENTRIES)
        this.#options.observer?.onSourceProgress(this.#source.progress)
      },
    }
  }

  /** Whether an empty store can begin with a version: with 0, or, on the assumption of an empty base, with any block. */
  #mayBeginAt({ version, block }: VersionWrites): boolean {
    if (version === 0n) return true
    if (!this.#options.assumeEmptyBase) {
      throw baseMissing(`${this.#source.position}: version ${version}, but the store is empty`)
    }
    if (!block) return false
    this.#notice(`begins at version ${version} on an assumed empty base: what was written before is not known`)
    return true
  }

  #notice(message: string): void {
    this.#options.onNotice?.(message)
  }

  #expectChain(): void {
    const held = this.#engine.ledger?.chainId
    const asked = toBigint(this.#options.chainId)
    const expected = held ?? asked
    for (const [told, by] of [
      [toBigint(this.#source.chainId), `${this.#source.position}: the source`],
      [asked, '--chain-id'],
    ] as const) {
      if (told === undefined || expected === undefined || told === expected) continue
      const other = held === undefined ? `--chain-id says ${asked}` : `the store holds chain ${held}`
      throw new LedgerStateError('chain_id_mismatch', `${by} is of chain ${told}, ${other}`)
    }
  }

  get #chainId(): bigint | number {
    this.#expectChain()
    const chainId = this.#engine.ledger?.chainId ?? this.#source.chainId ?? this.#options.chainId
    if (chainId !== undefined) return chainId
    const message = `${this.#source.position}: the source does not tell the id of its chain; name it with --chain-id`
    throw new LedgerStateError('invalid_argument', message)
  }

  /** `mark`: of the source, as of the newest version of the batch. */
  async #flush(mark = this.#source.mark): Promise<void> {
    const { progress, observer } = this.#options
    if (this.#batch.versions.length === 0) return
    const { versions, writes, bytes } = this.#batch.take()
    const chainId = this.#chainId
    const began = performance.now()
    await this.#named(() => this.#engine.commit(versions, { chainId, mark }))
    observer?.onCommit({ versions: versions.length, writes, bytes, seconds: (performance.now() - began) / 1_000 })
    this.#counters.versions += versions.length
    this.#counters.writes += writes
    this.#counters.bytes += bytes
    this.#counters.latestVersion = versions.at(-1)!.version
    // More than was written, so that a window that was made smaller is reached, and little enough to commit on.
    await this.#prune(2 * writes)
    observer?.onSourceProgress(this.#source.progress)
    progress?.update(this.#counters, this.#source.progress)
  }

  /** One turn of pruning. Answers whether nothing is left to prune. */
  async #prune(maxEntries: number): Promise<boolean> {
    const { retain, observer } = this.#options
    return retain === undefined || (await pruneTurn(this.#engine, retain, maxEntries, observer))
  }

  /** Runs what the store does, whose faults are told with the place in the source. */
  async #named(work: () => Promise<void>): Promise<void> {
    try {
      await work()
    } catch (error) {
      if (!isLedgerStateError(error)) throw error
      throw new LedgerStateError(error.code, `${this.#source.position}: ${error.message}`, error.fields, {
        cause: error,
      })
    }
  }

  /** The newest version of the store has to be the one that the source has. @throws `ledger_fork` */
  #expectSame({ version, block, writes }: VersionWrites): void {
    const state = this.#engine.at(version)
    const held = this.#engine.blockAt(version)
    const differs = (key: Uint8Array, value: Uint8Array | null) => {
      const entry = state.getEntry(key)
      if (value === null) return entry !== undefined
      return entry?.version !== version || Buffer.compare(entry.value, value) !== 0
    }
    const isOther =
      writes.some(([key, value]) => differs(key, value)) ||
      (block !== undefined && held.firstVersion === version && !sameBlock(block, held.block))
    if (!isOther) return
    const message = `${this.#source.position}: version ${version} is another than the one that the store holds: a fork, or another ledger`
    throw new LedgerStateError('ledger_fork', message, { version })
  }
}

function toBigint(chainId: number | undefined): bigint | undefined {
  return chainId === undefined ? undefined : BigInt(chainId)
}

function baseMissing(what: string): LedgerStateError {
  const message = `${what}: what was written before is not known. Ingest the genesis or a state snapshot first, or give --assume-empty-base to take it for nothing`
  return new LedgerStateError('base_missing', message)
}

function sameBlock(a: BlockInfo, b: BlockInfo): boolean {
  return a.height === b.height && a.epoch === b.epoch && a.timestampUsec === b.timestampUsec
}

function versionGap(source: LedgerSource, found: bigint, expected: bigint): LedgerStateError {
  const message = `${source.position}: version ${found}, but the store goes on at version ${expected}`
  return new LedgerStateError('version_gap', message, { expected, found })
}

class Batch {
  versions: VersionWrites[] = []
  #writes = 0
  #bytes = 0

  get isFull(): boolean {
    return this.#holds(1)
  }

  get isOverfull(): boolean {
    return this.#holds(OVERFULL_BATCHES)
  }

  #holds(batches: number): boolean {
    return (
      this.versions.length >= batches * BATCH_VERSIONS ||
      this.#writes >= batches * BATCH_WRITES ||
      this.#bytes >= batches * BATCH_BYTES
    )
  }

  add(record: VersionWrites): void {
    this.versions.push(record)
    this.#writes += record.writes.length
    for (const [key, value] of record.writes) this.#bytes += key.length + (value?.length ?? 0)
  }

  take() {
    const taken = { versions: this.versions, writes: this.#writes, bytes: this.#bytes }
    this.versions = []
    this.#writes = 0
    this.#bytes = 0
    return taken
  }
}
