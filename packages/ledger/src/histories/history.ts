import type { LedgerStateError } from '@ledger-state/core'
import { type LedgerSummary, type StateReader, versionPruned } from '@ledger-state/engine'
import { createBlockTimes } from '../blocks/block-times.js'
import { isUnreadable } from '../types/unreadable.js'
import { type StoredState, statesNewestFirst, statesOldestFirst } from './stored-states.js'

/** Which changes a page of a history shows. */
export interface ChangeHistoryOptions {
  /** First and last version, both included; by default all that the window knows, and the version of the state. */
  readonly from?: bigint | undefined
  readonly to?: bigint | undefined
  /** `asc` begins with the oldest version, `desc` with the newest; `desc` by default. */
  readonly order?: 'asc' | 'desc' | undefined
  /** Most changes of the page; all by default. */
  readonly limit?: number | undefined
  /** Asked before each change but the first: whether the page ends here. */
  readonly isFull?: (() => boolean) | undefined
  /** The version at which the page begins: the `cursor` of the page before. */
  readonly start?: bigint | undefined
}

/**
 * One page of a history: the versions at which something changed. What it was at the oldest version of the window comes
 * under the version that wrote it, which may be below. It is iterated once. The iteration throws `version_pruned` where the
 * pruner has reached its range since the state was pinned, or since the cursor was given out: no change is left out unsaid.
 */
export interface History<T> extends Iterable<T> {
  /** Known at the end of the iteration: where the next page begins, undefined if nothing follows. */
  readonly cursor: bigint | undefined
  /**
   * Whether all changes of the range are known. False if the range begins before the window, or where the store does
   * not know the state that it began with.
   */
  readonly complete: boolean
}

interface ChangeMoment {
  readonly version: bigint
  /** Microseconds since 1970, of the block; undefined for a version below the window. */
  readonly timestampUsec: bigint | undefined
}

/** What something is from a version on. */
export interface ReadableChange<T> extends ChangeMoment {
  readonly value: T
  readonly error?: undefined
}

/** What is stored from a version on cannot be read: a read at the version throws this error. */
export interface UnreadableChange extends ChangeMoment {
  readonly value?: undefined
  readonly error: LedgerStateError
}

/** An entry of a history: what a read says from its version on, which may be an error. */
export type Change<T> = ReadableChange<T> | UnreadableChange

/** How values are read out of what keys hold, and compared. */
export interface Observation<V> {
  readonly keys: readonly Uint8Array[]
  /** @throws what `isUnreadable` knows, where the bytes cannot be read */
  read(values: readonly (Uint8Array | null)[]): V
  isEqual(a: V, b: V): boolean
}

/** States that one page looks at beyond those that it shows: most writes of a group leave a member as it is. */
const MOST_SKIPPED_STATES = 2_000

/** The changes of what is observed until a version of a pinned ledger. `present` makes what the page shows of a value. */
export function createHistory<V, T>(
  reader: StateReader,
  { version, ledger }: { readonly version: bigint; readonly ledger: LedgerSummary },
  observation: Observation<V>,
  options: ChangeHistoryOptions,
  present: (value: V, version: bigint) => T,
): History<Change<T>> {
  const { from = 0n, to = version, order = 'desc', limit = Number.POSITIVE_INFINITY, isFull, start } = options
  const isNewestFirst = order === 'desc'
  const first = start !== undefined && !isNewestFirst && start > from ? start : from
  const last = [to, version, isNewestFirst && start !== undefined ? start : to].reduce((a, b) => (a < b ? a : b))
  const { oldestVersion } = ledger
  const timeOf = createBlockTimes(reader, oldestVersion)
  let cursor: bigint | undefined

  function* changes(): Generator<Change<T>> {
    let shown = 0
    let seen = 0
    const steps = isNewestFirst
      ? stepsNewestFirst(observation, statesNewestFirst(reader, observation.keys, last, oldestVersion))
      : stepsOldestFirst(observation, statesOldestFirst(reader, observation.keys, first, last, oldestVersion))
    for (const { version: at, reading, isChange } of steps) {
      if (at < first) {
        if (isNewestFirst) break
        continue
      }
      if (seen === 0) expectCursorKept(start, at, oldestVersion)
      const isEnd = isChange && (shown === limit || (shown > 0 && isFull?.()))
      if (seen - shown === MOST_SKIPPED_STATES || isEnd) {
        cursor = at
        return
      }
      seen++
      if (!isChange) continue
      shown++
      expectNotPruned(reader, at, oldestVersion)
      const moment = { version: at, timestampUsec: timeOf(at) }
      if (reading.error) yield { ...moment, error: reading.error }
      else yield { ...moment, value: present(reading.value, at) }
    }
    if (seen === 0) expectCursorKept(start, undefined, oldestVersion)
    // What was pruned on the way may have left no state at all.
    expectNotPruned(reader, first, oldestVersion)
  }

  return {
    get cursor() {
      return cursor
    },
    complete: reader.base?.complete === true && (options.from === undefined || options.from >= oldestVersion),
    [Symbol.iterator]: changes,
  }
}

/** A cursor names a state that was there. Below the window it may be gone by now, and others with it. */
function expectCursorKept(start: bigint | undefined, found: bigint | undefined, oldestVersion: bigint): void {
  if (start !== undefined && start < oldestVersion && start !== found) throw versionPruned(start, oldestVersion)
}

/** States at or below the oldest version are no longer distinguished, so that a pruner may have removed one unseen. */
function expectNotPruned(reader: StateReader, version: bigint, pinnedOldestVersion: bigint): void {
  const { oldestVersion } = reader.ledger!
  if (oldestVersion > pinnedOldestVersion && version <= oldestVersion) throw versionPruned(version, oldestVersion)
}

/** What bytes were read as. */
type Reading<V> =
  | { readonly value: V; readonly error?: undefined }
  | { readonly value?: undefined; readonly error: LedgerStateError }

interface Step<V> {
  readonly version: bigint
  readonly reading: Reading<V>
  /** Whether it reads otherwise than before the version. */
  readonly isChange: boolean
}

function readStored<V>({ read }: Observation<V>, values: readonly (Uint8Array | null)[]): Reading<V> {
  try {
    return { value: read(values) }
  } catch (error) {
    if (isUnreadable(error)) return { error }
    throw error
  }
}

/** Two states that fail alike are one to a reader: the same error is said at each of their versions. */
function isSameReading<V>({ isEqual }: Observation<V>, a: Reading<V>, b: Reading<V>): boolean {
  if (a.error || b.error) return a.error?.code === b.error?.code && a.error?.message === b.error?.message
  return isEqual(a.value, b.value)
}

function readNothing<V>(observation: Observation<V>): Reading<V> {
  const nothing = observation.keys.map(() => null)
  return readStored(observation, nothing)
}

function* stepsNewestFirst<V>(observation: Observation<V>, states: Iterable<StoredState>): Generator<Step<V>> {
  let newer: { readonly version: bigint; readonly reading: Reading<V> } | undefined
  for (const { version, values } of states) {
    const reading = readStored(observation, values)
    if (newer) yield { ...newer, isChange: !isSameReading(observation, reading, newer.reading) }
    newer = { version, reading }
  }
  if (newer) yield { ...newer, isChange: !isSameReading(observation, readNothing(observation), newer.reading) }
}

function* stepsOldestFirst<V>(observation: Observation<V>, states: Iterable<StoredState>): Generator<Step<V>> {
  let before = readNothing(observation)
  for (const { version, values } of states) {
    const reading = readStored(observation, values)
    yield { version, reading, isChange: !isSameReading(observation, before, reading) }
    before = reading
  }
}
