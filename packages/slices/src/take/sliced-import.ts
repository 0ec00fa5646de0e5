import { isLedgerStateError, type KeyedEntry, type Write } from '@ledger-state/core'
import type { StateImport } from '@ledger-state/engine'
import { sliceNeedsReopening } from '../errors.js'
import type { LeftOutCounter } from '../keep/left-out-counter.js'
import type { SliceFilter, SliceOptions } from '../keep/slice-filter.js'
import type { SliceKeeper } from '../keep/slice-keeper.js'
import { type PassOptions, StateSlice } from '../keep/state-slice.js'
import type { PartOfState, StateSource } from '../keep/state-source.js'
import { sliceDigest } from '../spec/slice-spec.js'

const RECORDS_AT_ONCE = 5_000

/** Imports the slice of a state into an empty store. */
export class SlicedImport<Source extends StateSource> {
  readonly digest: Uint8Array
  readonly #options: SliceOptions<Source>
  readonly #version: bigint
  readonly #keeper: SliceKeeper
  readonly #state: StateSlice
  readonly #leftOut: LeftOutCounter | undefined

  constructor(filter: SliceFilter, options: SliceOptions<Source>, version: bigint) {
    this.digest = sliceDigest(options.spec)
    this.#options = options
    this.#leftOut = filter.leftOut
    this.#version = version
    this.#keeper = filter.begin(version)
    this.#state = new StateSlice(this.#keeper, version, options.folder)
  }

  /**
   * Finds the members of the slice. Returns whether it came to its end.
   * @throws `slice_unbounded`; `invalid_argument` if the source cannot be opened again
   */
  async findMembers(source: Source, options: Omit<PassOptions<Source>, 'reopen'>): Promise<boolean> {
    const { reopen } = this.#options
    if (!reopen) throw sliceNeedsReopening(source.position || source.description)
    const isComplete = await this.#state.findMembers(source.description, { ...options, reopen })
    if (isComplete) this.#leftOut?.countState(this.#state.leftOut.keys, this.#state.leftOut.bytes)
    return isComplete
  }

  /** The entries of a part of the state that the slice keeps. */
  keep(part: PartOfState, place: string): readonly KeyedEntry[] {
    return this.#state.keep(part, place)
  }

  /**
   * Adds the store's records of its slice. An import that was cut short at this point may have added some of them
   * already.
   */
  async addRecords(state: StateImport): Promise<void> {
    let some: KeyedEntry[] = []
    const addSome = async (): Promise<void> => {
      try {
        await state.add(some, state.mark)
      } catch (error) {
        // The same source gives the same members in the same order, so a part that exists is complete.
        if (!isLedgerStateError(error, 'duplicate_key')) throw error
      }
      some = []
    }
    const leftOut = this.#leftOut?.take()
    if (leftOut) some.push(this.#entryOf(leftOut))
    for (const record of this.#keeper.takeRecords()) {
      if (some.push(this.#entryOf(record)) === RECORDS_AT_ONCE) await addSome()
    }
    if (some.length > 0) await addSome()
  }

  #entryOf([key, value]: Write): KeyedEntry {
    return { key, value: value!, version: this.#version }
  }

  /** Releases the copy of all modules. */
  close(): void {
    this.#state.close()
  }
}
