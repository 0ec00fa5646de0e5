import { versionPruned } from '@ledger-state/engine'
import type { Asset } from '../assets/asset.js'
import { createBlockTimes } from '../blocks/block-times.js'
import type { LedgerState } from '../state/ledger-state.js'
import { type ActivityWindow, activityWindows } from './activity-windows.js'
import type { HeldAsset } from './holding.js'
import { expectChangesKept, expectOwnerKnown, firstKnownChange, storedReader } from './known-holdings.js'
import { type MergedChange, SpanMerger } from './merge-spans.js'
import { findSpans } from './spans.js'

/** Most writes that one page reads in addition to those that it shows: most writes of a store leave its amount. */
const MOST_SKIPPED = 10_000
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
 * A page of activities. The iteration yields undefined where it has worked and found none, so that its caller can let
 * others have a turn. It can be iterated once.
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
  const { from, order = 'desc', asset, limit, isFull, start } = options
  const isNewestFirst = order === 'desc'
  const reader = storedReader(state)
  const known = firstKnownChange(state)
  if (start && start.version < known) throw versionPruned(start.version, state.ledger.oldestVersion)
  const least = from !== undefined && from > known ? from : known
  const first = start && !isNewestFirst && start.version > least ? start.version : least
  const last = start && isNewestFirst && start.version < state.version ? start.version : state.version
  let cursor: ActivityCursor | undefined

  function* activities(): Generator<Activity | undefined> {
    if (first > last) return
    const timeOf = createBlockTimes(reader, state.ledger.oldestVersion)
    let shown = 0
    let skipped = 0
    let begun: bigint | undefined
    /** Activities of the version that the iteration is at, shown by this page or earlier ones. */
    let at: ActivityCursor = { version: -1n, shown: 0 }
    let toSkip = start?.shown ?? 0
    for (const window of windows()) {
      const { range } = window
      if (skipped >= MOST_SKIPPED && begun !== undefined) {
        cursor = { version: isNewestFirst ? range.last : range.first, shown: 0 }
        return
      }
      expectChangesKept(reader, state, range.last)
      const merger = new SpanMerger(reader, range, isNewestFirst)
      for (const span of findSpans(reader, reader.at(range.last), { owner, asset, ...window, first: range.first })) {
        if (span) merger.add(span)
        else if (window.names) skipped++
        yield* checked(undefined, range.last)
      }
      const merged = merger.merge()
      for (const change of merged) {
        const { version, before, after } = change
        begun ??= version
        if (version !== at.version) at = { version, shown: 0 }
        if (version !== start?.version) toSkip = 0
        const isChange = before !== after
        if (isChange && toSkip > 0) {
          toSkip--
          at = { version, shown: at.shown + 1 }
          continue
        }
        const isEnd = isChange && (shown === limit || (shown > 0 && isFull?.()))
        if (isEnd || (skipped >= MOST_SKIPPED && version !== begun)) {
          cursor = at
          return
        }
        if (!isChange) {
          skipped++
          yield* checked(undefined, version)
          continue
        }
        shown++
        at = { version, shown: at.shown + 1 }
        yield* checked(toActivity(change, timeOf), version)
      }
      if (merged.cutAt !== undefined) {
        cursor = { version: merged.cutAt, shown: 0 }
        return
      }
    }
    expectChangesKept(reader, state, first)
  }

  /** Checks what was read before a step, and that the next one reads the same changes. */
  function* checked(step: Activity | undefined, version: bigint): Generator<Activity | undefined> {
    expectChangesKept(reader, state, version)
    yield step
    expectChangesKept(reader, state, version)
  }

  function windows(): Iterable<ActivityWindow> {
    const range = { first, last }
    // All stores of one asset may be few.
    if (asset) return [{ range, names: undefined }]
    return activityWindows(reader, owner, range, isNewestFirst, (start?.shown ?? 0) + (limit ?? DEFAULT_WRITES) + 1)
  }

  return {
    get cursor() {
      return cursor
    },
    complete: reader.base?.complete === true && (from ?? 0n) >= known,
    [Symbol.iterator]: activities,
  }
}

function toActivity(
  { version, before, after, span }: MergedChange,
  timeOf: (version: bigint) => bigint | undefined,
): Activity {
  const { asset, storage } = span
  return { version, timestampUsec: timeOf(version) ?? 0n, asset, storage, before, after }
}
