import { CHECKPOINT_KEY, isLedgerStateError, type KeyedEntry, STATE_ROOT_KEY } from '@ledger-state/core'
import type { AsyncStateWriter, StateImport } from '@ledger-state/engine'
import type { LedgerSource, StateBase } from '@ledger-state/feed'
import { encodeCommitMark } from './commit-mark.js'
import type { CountedIngest } from './counters.js'
import { endingWrites } from './epoch-endings.js'
import { stateWithoutBase, storeNotEmpty } from './errors.js'
import type { IngestOptions } from './ingest-options.js'
import { isMarkOfImport, markOfImport, sourceMarkOf } from './slices/import-mark.js'
import type { SliceFilter } from './slices/slice-filter.js'
import { SlicedImport } from './slices/sliced-import.js'
import type { PassOptions } from './slices/state-slice.js'
import { withPlace } from './with-place.js'
import { WritesHash } from './writes-hash.js'

/** Parts of an import of a state. */
export interface BaseImportParts {
  readonly engine: AsyncStateWriter
  readonly source: LedgerSource
  readonly options: IngestOptions
  readonly counters: CountedIngest
  /** Filter of a slice; undefined if everything is kept. */
  readonly filter: SliceFilter | undefined
}

/** Fills an empty store with the state with which a source begins, and resumes an import that was cut short. */
export class BaseImport {
  readonly #engine: AsyncStateWriter
  readonly #source: LedgerSource
  readonly #options: IngestOptions
  readonly #counters: CountedIngest
  readonly #filter: SliceFilter | undefined

  constructor({ engine, source, options, counters, filter }: BaseImportParts) {
    this.#engine = engine
    this.#source = source
    this.#options = options
    this.#counters = counters
    this.#filter = filter
  }

  /**
   * Imports the state. Does nothing if the store has the version of the state. The signal stops it after a part, and
   * the same call resumes it.
   */
  async run(base: StateBase): Promise<void> {
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
      // An import of a slice that was refused leaves nothing behind.
      const isRefused = isLedgerStateError(error, 'slice_unbounded') || isLedgerStateError(error, 'slice_mismatch')
      if (isRefused) await this.#engine.beginImport(base.version, { resume: false })
      throw error
    } finally {
      slice?.close()
    }
  }

  /** Begins or resumes an import. Its mark says from the first moment on which slice it keeps. */
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
    const { signal, observer, progress } = this.#options
    if (state.entryCount > 0) this.#notice(`resuming after entry ${state.entryCount} of the state`)
    else if (base.stateRoot) {
      const root = { key: STATE_ROOT_KEY, version: base.version, value: base.stateRoot }
      await state.add([root], state.mark)
    }
    for await (const part of base.parts(sourceMarkOf(state.mark, slice?.digest))) {
      const entries = slice ? slice.keep(part, this.#source.position) : part.entries
      if (entries.length > 0)
        await withPlace(this.#source, () => state.add(entries, markOfImport(part.mark, slice?.digest)))
      this.#counters.addState(part)
      observer?.onSourceProgress(this.#source.progress)
      progress?.update(this.#counters, this.#source.progress)
      if (signal?.aborted) return
    }
    const description = base.describe()
    if (slice) await withPlace(this.#source, () => slice.addRecords(state))
    await this.#importVouching(state, base)
    const { vouching } = this.#source
    const mark = encodeCommitMark({
      isUnproven: description.mark === undefined,
      source: description.mark,
      writesHash: WritesHash.begin(base.version).value,
      wholeHash: undefined,
      signed: vouching && { version: base.version, ...vouching },
      contradicted: undefined,
      pending: [],
    })
    await withPlace(this.#source, () => state.finish({ ...description, mark, complete }))
    this.#counters.latestVersion = base.version
  }

  /** Adds what vouches for a state. An import that was cut short at this point may have added it already. */
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

  #notice(message: string): void {
    this.#options.onNotice?.(message)
  }
}
