import type { KeyedEntry, VersionWrites, Write } from '@ledger-state/core'
import { compareBytes } from '@ledger-state/core/bytes'
import type { AsyncStateReader, AsyncStateSnapshot, AsyncStateWriter } from '@ledger-state/engine'
import {
  decodeSliceLeftOut,
  isHoldingsKey,
  isMarkOfSlice,
  isOwnKey,
  isSliceKey,
  isSliceLeftOutKey,
  isTransactionKey,
  SLICE_ACCOUNT_PREFIX,
  SLICE_KEY,
  SLICE_LEFT_OUT_KEY,
  SLICE_TABLE_PREFIX,
  SLICE_TYPE_PREFIX,
} from '@ledger-state/records'
import { tableKeyPrefix } from '@ledger-state/type-tag'
import { sliceMismatch, sourceKeepsSlice } from '../errors.js'
import { decodeSliceRecord } from '../spec/slice-record.js'
import { type SliceSpec, sliceDigest, sliceSpecToLines } from '../spec/slice-spec.js'
import { LeftOutCounter } from './left-out-counter.js'
import { SliceKeeper } from './slice-keeper.js'
import type { SliceableSource, StateSource } from './state-source.js'

/** Specification of a slice, and the means to make it. */
export interface SliceOptions<Source extends StateSource = StateSource> {
  readonly spec: SliceSpec
  /** Opens the source again. A source that begins with a state is read several times. */
  readonly reopen?: (() => Promise<Source>) | undefined
  /** Folder for a copy of all modules of a state while it is read; by default the temporary folder of the system. */
  readonly folder?: string | undefined
}

/** Lets through the part of each version that a slice keeps. */
export class SliceFilter {
  readonly #store: AsyncStateReader
  readonly #spec: SliceSpec | undefined
  /** Counts of the omitted data; undefined for a store that did not count from the beginning. */
  readonly leftOut: LeftOutCounter | undefined
  #keeper: SliceKeeper | undefined

  private constructor(
    store: AsyncStateReader,
    spec: SliceSpec | undefined,
    keeper: SliceKeeper | undefined,
    leftOut: LeftOutCounter | undefined,
  ) {
    this.#store = store
    this.#spec = spec
    this.#keeper = keeper
    this.leftOut = leftOut
  }

  /**
   * Opens the filter of a store; undefined if it keeps everything, or gets the slice of its source.
   * @throws `slice_mismatch` if the store or the source keeps another slice than is asked for
   */
  static async open(
    store: AsyncStateWriter,
    source: SliceableSource,
    spec: SliceSpec | undefined,
  ): Promise<SliceFilter | undefined> {
    const held = await store.snapshot()
    if (!held.ledger && !spec && isMarkOfSlice((await store.unfinishedImport())?.mark))
      throw sliceMismatch.sliceCutShort()
    const entries = held.ledger && (await held.at().load([SLICE_KEY, SLICE_LEFT_OUT_KEY]))
    const [record, leftOut] = [entries?.[0]?.value, entries?.[1]?.value]
    if (source.slice) {
      const isSame = (digest: Uint8Array): boolean => compareBytes(digest, source.slice!) === 0
      if (spec && !isSame(sliceDigest(spec))) throw sourceKeepsSlice(source.position)
      if (held.ledger && !(record && isSame(decodeSliceRecord(record).digest))) throw sourceKeepsSlice(source.position)
      return undefined
    }
    if (!held.ledger) return spec && new SliceFilter(store, spec, undefined, LeftOutCounter.begin())
    if (!record) {
      if (spec) throw sliceMismatch.storeKeepsAll()
      return undefined
    }
    if (spec && compareBytes(sliceDigest(spec), decodeSliceRecord(record).digest) !== 0) {
      throw sliceMismatch.otherSlice([...sliceSpecToLines(spec)])
    }
    const keeper = SliceKeeper.resume(record)
    for (const prefix of [SLICE_TYPE_PREFIX, SLICE_ACCOUNT_PREFIX, SLICE_TABLE_PREFIX]) {
      for await (const entries of pagesOf(held, prefix)) {
        for (const { key, value } of entries) keeper.restore(key, value)
      }
    }
    const counter = leftOut && LeftOutCounter.resume(decodeSliceLeftOut(leftOut))
    return new SliceFilter(store, undefined, keeper, counter)
  }

  /** Begins the keeper of a store that begins with this version. */
  begin(version: bigint): SliceKeeper {
    this.#keeper ??= SliceKeeper.begin(this.#spec!, version)
    return this.#keeper
  }

  /** The kept part of a version, and the records of the slice that the store writes with it. */
  async keep<Record extends VersionWrites>(record: Record): Promise<Record> {
    const { version } = record
    // A slice derives the index of holdings from its kept writes.
    const writes = record.writes.filter(([key]) => !isHoldingsKey(key))
    const keeper = this.#keeper ?? this.begin(version)
    // A source with the slice from which this store was copied says who joins.
    const known = writes.filter(([key]) => isSliceKey(key))
    for (const [key, value] of known) if (value) keeper.restore(key, value)
    let kept = await this.#complete(keeper, () => keeper.keep(version, writes))
    while (keeper.typedLate.length > 0) {
      for (const handle of keeper.typedLate) await this.#lookAgain(keeper, handle)
      kept = await this.#complete(keeper, () => keeper.keep(version, writes))
    }
    this.leftOut?.countWrites(writes, kept)
    const counted = known.find(([key]) => isSliceLeftOutKey(key))?.[1]
    if (counted) this.leftOut?.adopt(decodeSliceLeftOut(counted))
    const state = kept.some(([key]) => !isOwnKey(key)) ? kept : kept.filter(([key]) => !isTransactionKey(key))
    const records = [...keeper.takeRecords(), ...keeper.deletionsIn(state)]
    return { ...record, writes: records.length === 0 ? state : [...state, ...newRecords(records, known)] }
  }

  /** Whether an account or object is a member. */
  hasAccount(address: Uint8Array): boolean {
    return this.#keeper?.hasAccount(address) === true
  }

  /** Whether a state key belongs to an account, an object or a table that is a member. */
  hasMemberOf(key: Uint8Array): boolean {
    return this.#keeper?.hasMemberOf(key) === true
  }

  /** The part of a version that the store has, for comparison with the source. */
  heldPart<Record extends VersionWrites>(record: Record): Record {
    const keeper = this.#keeper
    return keeper ? { ...record, writes: record.writes.filter(([key]) => keeper.has(key)) } : record
  }

  /** Notes that the store now has everything that was let through. */
  settle(): void {
    this.#keeper?.settle()
  }

  get unread(): number {
    return this.#keeper?.counts.unread ?? 0
  }

  /** Repeats work of a keeper until it lacks nothing. */
  async #complete<T>(keeper: SliceKeeper, work: () => T): Promise<T> {
    for (;;) {
      const answer = work()
      const keys = keeper.lacking
      if (keys.length === 0) return answer
      const held = await this.#store.snapshot()
      const entries = held.ledger ? await held.at().load(keys) : []
      for (const [at, key] of keys.entries()) keeper.provide(key, entries[at]?.value)
    }
  }

  /** Searches the items of a table after its type became known. */
  async #lookAgain(keeper: SliceKeeper, handle: Uint8Array): Promise<void> {
    const held = await this.#store.snapshot()
    if (held.ledger) {
      for await (const entries of pagesOf(held, tableKeyPrefix(handle))) {
        await this.#complete(keeper, () => keeper.lookAgain(entries))
      }
    }
    await this.#complete(keeper, () => keeper.endLook(handle))
  }
}

function newRecords(records: readonly Write[], known: readonly Write[]): readonly Write[] {
  if (known.length === 0) return records
  return records.filter(([key]) => !known.some(([other]) => compareBytes(key, other) === 0))
}

async function* pagesOf(held: AsyncStateSnapshot, prefix: Uint8Array): AsyncGenerator<readonly KeyedEntry[]> {
  const view = held.at()
  for (let start: Uint8Array | undefined = prefix; start; ) {
    const page = await view.scan(prefix, { start })
    yield page.entries
    start = page.next
  }
}
