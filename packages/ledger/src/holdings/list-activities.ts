import { type StateReader, versionPruned } from '@ledger-state/engine'
import type { Asset } from '../assets/asset.js'
import { createBlockTimes } from '../blocks/block-times.js'
import type { LedgerState } from '../state/ledger-state.js'
import { type ActivityWindow, activityWindows } from './activity-windows.js'
import type { HeldAsset } from './holding.js'
import { expectChangesKept, expectOwnerKnown, firstKnownChange, storedReader } from './known-holdings.js'
import { type MergedChange, type MergedSpans, SpanMerger } from './merge-spans.js'
import type { VersionRange } from './span-changes.js'
import { findSpans } from './spans.js'

/**
 * Most writes that one page reads in addition to those that it shows, as most writes of a store leave its amount, and
 * rows of the index after which it ends at the end of a window.
 */
const MOST_SKIPPED = 10_000
/** Writes of an owner of many that a list of one asset reads, before it looks at all stores: those may be few. */
const MOST_OF_OTHER_ASSETS = 2_048
/** Writes of stores that a list without a limit reads at first. */
const DEFAULT_WRITES = 100

/** Place in a list of activities: after some activities of a version. */
export interface ActivityCursor {
  readonly version: bigint
  /** Number of activities of the version that earlier pages have shown. */
  readonly shown: number
}

/** Options of a page of activities. */
export interface ActivitiesOptions {
  /** First version; by default the first with known changes. The last version is the version of the state. */
  readonly from?: bigint | undefined
  /** `asc` begins with the oldest version, `desc` with the newest; `desc` by default. */
  readonly order?: 'asc' | 'desc' | undefined
  /** The only asset to list; all by default. */
  readonly asset?: Asset | undefined
  /** Most activities of the page; all by default. */
  readonly limit?: number | undefined
  /** Called before each activity except the first. If it returns true, the page ends there. */
  readonly isFull?: (() => boolean) | undefined
  /** Where the page begins: the `cursor` of the page before. */
  readonly start?: ActivityCursor | undefined
}

/** A change of an account's holding in one store. */
export interface Activity {
  readonly version: bigint
  /** Time of the block, in microseconds since 1970. */
  readonly timestampUsec: bigint
  readonly asset: HeldAsset
  /** Address of the fungible store; of a coin store, its account. */
  readonly storage: Uint8Array
  /**
   * Amounts of the account in this store before and after the version: 0 if the store did not exist, or had another
   * owner.
   */
  readonly before: bigint
  readonly after: bigint
}

/**
 * A page of activities. The iteration also yields undefined after work that found none, so that its caller can yield to
 * the event loop. It can be iterated once.
 */
export interface ActivitiesPage extends Iterable<Activity | undefined> {
  /** Start of the next page, known at the end of the iteration; undefined if nothing follows. */
  readonly cursor: ActivityCursor | undefined
  /** Whether all changes of the range are known: false if the range begins before the first that the store knows. */
  readonly complete: boolean
}

/**
 * All changes of an account's holdings, up to the version of the state: one for each version and store, coin stores
 * first, then by address. The sum of the changes of an asset in a range is the difference of its balances.
 * @throws `holdings_not_indexed`; `version_pruned` if a slice has not kept the account since its beginning, or if a
 * prune has reached the cursor or, in the iteration, the range
 */
export function listActivities(state: LedgerState, owner: Uint8Array, options: ActivitiesOptions = {}): ActivitiesPage {
  expectOwnerKnown(state, owner)
  return new ActivitiesOf(state, owner, options)
}

class ActivitiesOf implements ActivitiesPage {
  cursor: ActivityCursor | undefined
  readonly complete: boolean
  readonly #state: LedgerState
  readonly #owner: Uint8Array
  readonly #options: ActivitiesOptions
  readonly #isNewestFirst: boolean
  readonly #reader: StateReader
  /** The range of versions that the page may show; empty if the first is above the last. */
  readonly #range: VersionRange
  readonly #timeOf: (version: bigint) => bigint | undefined
  /** Activities of this page. */
  #shown = 0
  /** Writes that were read and are no activities. */
  #skipped = 0
  /** Rows of the index that were read for ranges without the names of the written stores. */
  #rows = 0
  /** Version of the first change that was read. */
  #begun: bigint | undefined
  /** Activities of the version that the iteration is at, shown by this page or earlier ones. */
  #at: ActivityCursor = { version: -1n, shown: 0 }
  /** Activities of the first version that earlier pages have shown and this one has not passed yet. */
  #toSkip: number

  /** @throws `holdings_not_indexed`, `version_pruned` */
  constructor(state: LedgerState, owner: Uint8Array, options: ActivitiesOptions) {
    this.#state = state
    this.#owner = owner
    this.#options = options
    const { from, start } = options
    this.#isNewestFirst = (options.order ?? 'desc') === 'desc'
    this.#reader = storedReader(state)
    this.#toSkip = start?.shown ?? 0
    const known = firstKnownChange(state)
    if (start && start.version < known) throw versionPruned(start.version, state.ledger.oldestVersion)
    const least = from !== undefined && from > known ? from : known
    const first = start && !this.#isNewestFirst && start.version > least ? start.version : least
    const last = start && this.#isNewestFirst && start.version < state.version ? start.version : state.version
    this.#range = { first, last }
    this.#timeOf = createBlockTimes(this.#reader, state.ledger.oldestVersion)
    this.complete = this.#reader.base?.complete === true && (from === undefined || from >= known)
  }

  *[Symbol.iterator](): Generator<Activity | undefined> {
    const { first, last } = this.#range
    if (first > last) return
    let isFirst = true
    for (const window of this.#windows()) {
      const { range } = window
      // A page without an activity ends here, too.
      if (!isFirst && this.#skipped + this.#rows >= MOST_SKIPPED) {
        this.cursor = { version: this.#isNewestFirst ? range.last : range.first, shown: 0 }
        return
      }
      isFirst = false
      expectChangesKept(this.#reader, this.#state, range.last)
      const merged = yield* this.#mergedChanges(window)
      for (const change of merged) {
        if (this.#isEndBefore(change)) {
          this.cursor = this.#at
          return
        }
        yield* this.#pass(change)
      }
      if (merged.cutAt !== undefined) {
        this.cursor = { version: merged.cutAt, shown: 0 }
        return
      }
    }
    expectChangesKept(this.#reader, this.#state, first)
  }

  #windows(): Iterable<ActivityWindow> {
    const { asset, start, limit } = this.#options
    if (asset?.kind === 'coin') return [{ range: this.#range, names: undefined }]
    const writes = (start?.shown ?? 0) + (limit ?? DEFAULT_WRITES) + 1
    const most = asset && MOST_OF_OTHER_ASSETS
    return activityWindows(this.#reader, this.#owner, this.#range, this.#isNewestFirst, writes, most)
  }

  /** Reads the changes of a window, in the order of the page. */
  *#mergedChanges(window: ActivityWindow): Generator<undefined, MergedSpans> {
    const { range } = window
    const reader = this.#reader
    const merger = new SpanMerger(reader, range, this.#isNewestFirst)
    const wanted = { owner: this.#owner, asset: this.#options.asset, ...window, first: range.first }
    for (const span of findSpans(reader, reader.at(range.last), wanted)) {
      if (span) merger.add(span)
      if (!window.names) this.#rows++
      else if (!span) this.#skipped++
      yield* this.#checked(undefined, range.last)
    }
    return merger.merge()
  }

  /** Moves to the version of a change. Returns whether the page ends before the change. */
  #isEndBefore(change: MergedChange): boolean {
    const { limit, isFull, start } = this.#options
    const { version } = change
    this.#begun ??= version
    if (version !== this.#at.version) this.#at = { version, shown: 0 }
    if (version !== start?.version) this.#toSkip = 0
    const isActivity = change.before !== change.after
    if (isActivity && this.#toSkip > 0) return false
    if (isActivity && (this.#shown === limit || (this.#shown > 0 && isFull?.()))) return true
    return this.#skipped >= MOST_SKIPPED && version !== this.#begun
  }

  /** Yields the activity of a change, unless it is none or an earlier page has shown it. */
  *#pass(change: MergedChange): Generator<Activity | undefined> {
    const { version, before, after } = change
    if (before === after) {
      this.#skipped++
      yield* this.#checked(undefined, version)
      return
    }
    this.#at = { version, shown: this.#at.shown + 1 }
    if (this.#toSkip > 0) {
      this.#toSkip--
      return
    }
    this.#shown++
    yield* this.#checked(toActivity(change, this.#timeOf), version)
  }

  /** Checks that all versions read so far are still kept, and that the next step reads the same changes. */
  *#checked<T extends Activity | undefined>(step: T, version: bigint): Generator<T> {
    expectChangesKept(this.#reader, this.#state, version)
    yield step
    expectChangesKept(this.#reader, this.#state, version)
  }
}

function toActivity(
  { version, before, after, span }: MergedChange,
  timeOf: (version: bigint) => bigint | undefined,
): Activity {
  const { asset, storage } = span
  return { version, timestampUsec: timeOf(version) ?? 0n, asset, storage, before, after }
}
