import { bytesOfEntries, type KeyedEntry, type Write } from '@ledger-state/core'
import { isHoldingsKey, isSliceKey } from '@ledger-state/records'
import { isModuleKey } from '@ledger-state/type-tag'
import { sliceStillGrows, sourceKeepsSlice, stateChangedBetweenPasses } from '../errors.js'
import { ModuleSpool } from './module-spool.js'
import type { SliceKeeper } from './slice-keeper.js'
import type { PartOfState, StateSource } from './state-source.js'

/** Most passes over a state. Each finds members that depend on those found by the pass before. */
const MOST_PASSES = 24

/** Options for reading a state several times. */
export interface PassOptions<Source extends StateSource = StateSource> {
  /** Opens the source again. */
  readonly reopen: () => Promise<Source>
  /** Called with a message for the operator. */
  readonly onNotice: (message: string) => void
  readonly signal: AbortSignal | undefined
  /** Called after each part. */
  readonly onPart: (source: Source) => void
}

/**
 * Finds the members of the slice of a state: passes over the state until no member joins.
 * @throws `slice_unbounded` if members still join in the last pass; `slice_mismatch`
 */
export class StateSlice {
  readonly #keeper: SliceKeeper
  readonly #version: bigint
  readonly #spool: ModuleSpool
  /** Whether a module was needed before all modules were seen. */
  #isMissing = false
  /** Entries that the pass has not kept. */
  #leftOut = { keys: 0, bytes: 0 }

  /** @param folder folder for a copy of the modules of the state */
  constructor(keeper: SliceKeeper, version: bigint, folder: string | undefined) {
    this.#keeper = keeper
    this.#version = version
    this.#spool = new ModuleSpool(folder)
  }

  /** Finds the members. Returns whether it came to its end; the signal stops it. */
  async findMembers<Source extends StateSource>(place: string, options: PassOptions<Source>): Promise<boolean> {
    const { onNotice, signal } = options
    onNotice(
      `a slice of a state: the source is read again until nobody joins the slice, at most ${MOST_PASSES} times, and once more to store it`,
    )
    for (let pass = 1; ; pass++) {
      const before = this.#keeper.joined
      const moment = this.#keeper.moment
      this.#isMissing = false
      this.#leftOut = { keys: 0, bytes: 0 }
      await this.#look(options)
      if (signal?.aborted) return false
      const joined = this.#keeper.joined - before
      const { accounts, tables } = this.#keeper.counts
      onNotice(`pass ${pass}: accounts and objects of the slice: ${accounts}; tables: ${tables}`)
      if (joined === 0 && !this.#isMissing) return true
      if (pass === MOST_PASSES) throw sliceStillGrows(place, pass, [...this.#keeper.joinedAfter(moment)])
    }
  }

  async #look<Source extends StateSource>({ reopen, signal, onPart }: PassOptions<Source>): Promise<void> {
    const source = await reopen()
    try {
      for await (const part of source.base!.parts(undefined)) {
        if (part.entries.some(({ key }) => isSliceKey(key))) throw sourceKeepsSlice(source.position)
        this.#takeModules(part)
        const entries = part.entries.filter(({ key }) => !isHoldingsKey(key))
        this.#countLeftOut(entries, this.#sift(entries))
        onPart(source)
        if (signal?.aborted) return
      }
    } finally {
      await source.close()
    }
  }

  /** Counts of the data that the last pass left out. */
  get leftOut(): { readonly keys: number; readonly bytes: number } {
    return this.#leftOut
  }

  #countLeftOut(entries: readonly KeyedEntry[], kept: readonly KeyedEntry[]): void {
    this.#leftOut.keys += entries.length - kept.length
    this.#leftOut.bytes += bytesOfEntries(entries) - bytesOfEntries(kept)
  }

  /** The kept entries of a part, once all members are known. */
  keep(part: PartOfState, place: string): readonly KeyedEntry[] {
    const before = this.#keeper.joined
    const kept = this.#sift(part.entries)
    if (this.#keeper.joined !== before) throw stateChangedBetweenPasses(place)
    return kept
  }

  #takeModules({ entries }: PartOfState): void {
    for (const { key, value } of entries) {
      if (!isModuleKey(key) || this.#spool.has(key)) continue
      this.#spool.put(key, value)
      this.#keeper.forget(key)
    }
  }

  #sift(entries: readonly KeyedEntry[]): readonly KeyedEntry[] {
    const byWrite = new Map<Write, KeyedEntry>()
    for (const entry of entries) byWrite.set([entry.key, entry.value], entry)
    const writes = [...byWrite.keys()]
    for (;;) {
      const kept = this.#keeper.keepEntries(this.#version, writes)
      if (this.#keeper.lacking.length === 0) return kept.map((write) => byWrite.get(write)!)
      for (const key of this.#keeper.lacking) {
        const code = this.#spool.get(key)
        if (!code) this.#isMissing = true
        this.#keeper.provide(key, code)
      }
    }
  }

  close(): void {
    this.#spool.close()
  }
}
