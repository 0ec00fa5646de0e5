import type { LedgerStateError } from '@ledger-state/core'
import { type LedgerSummary, type StateReader, versionPruned } from '@ledger-state/engine'
import { createBlockTimes } from '../blocks/block-times.js'
import { isUnreadable } from '../types/unreadable.js'
import { type StoredState, statesNewestFirst, statesOldestFirst } from './stored-states.js'

/** Options for one page of a history. */
export interface ChangeHistoryOptions {
  /** First and last version, both included; by default the first that the window knows and the version of the state. */
  readonly from?: bigint | undefined
  readonly to?: bigint | undefined
  /** `asc` begins with the oldest version, `desc` with the newest; `desc` by default. */
  readonly order?: 'asc' | 'desc' | undefined
  /** Most changes of the page; all by default. */
  readonly limit?: number | undefined
  /** Called before each change except the first. If it returns true, the page ends there. */
  readonly isFull?: (() => boolean) | undefined
  /** Version at which the page begins: the `cursor` of the page before. */
  readonly start?: bigint | undefined
}

/**
 * One page of a history: the versions at which a value changed. The value at the oldest version of the window is listed
 * under the version that wrote it, which may be older. A page can be iterated once. The iteration throws
 * `version_pruned` if the pruner has reached its range since the state was pinned or the cursor was given out, so that
 * no change is silently left out.
 */
export interface History<T> extends Iterable<T> {
  /** Start of the next page, known at the end of the iteration; undefined if nothing follows. */
  readonly cursor: bigint | undefined
  /**
   * Whether all changes of the range are known. False if the range begins before the window, or if the store does not
   * know the state that it began with.
   */
  readonly complete: boolean
}

interface ChangeMoment {
  readonly version: bigint
  /** Time of the block in microseconds since 1970; undefined for a version below the window. */
  readonly timestampUsec: bigint | undefined
}

/** A change to a value that can be read. */
export interface ReadableChange<T> extends ChangeMoment {
  readonly value: T
  readonly error?: undefined
}

/** A change to stored bytes that cannot be read: a read at the version throws `error`. */
export interface UnreadableChange extends ChangeMoment {
  readonly value?: undefined
  readonly error: LedgerStateError
}

/** An entry of a history: the result of a read since its version. The result may be an error. */
export type Change<T> = ReadableChange<T> | UnreadableChange

/** Reads a value from the values of keys, and compares two values. */
export interface Observation<V> {
  readonly keys: readonly Uint8Array[]
  /**
   * Reads a value.
   * @throws an error that `isUnreadable` knows if the bytes cannot be read
   */
  read(values: readonly (Uint8Array | null)[]): V
  isEqual(a: V, b: V): boolean
}

/**
 * Most states that one page looks at in addition to those that it shows. Most writes of a group leave a given member
 * unchanged.
 */
const MOST_SKIPPED_STATES = 2_000
/** Most bytes of these states: a member is found in a long group in 5 ms for each MiB, and nobody has a turn meanwhile. */
const MOST_SKIPPED_BYTES = 4 << 20

/** Lists the changes of an observation up to a version of a pinned ledger. `present` converts a value for the page. */
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
    let skippedBytes = 0
    const steps = isNewestFirst
      ? stepsNewestFirst(observation, statesNewestFirst(reader, observation.keys, last, oldestVersion))
      : stepsOldestFirst(observation, statesOldestFirst(reader, observation.keys, first, last, oldestVersion))
    for (const { version: at, reading, bytes, isChange } of steps) {
      if (at < first) {
        if (isNewestFirst) break
        continue
      }
      if (seen === 0) expectCursorKept(start, at, oldestVersion)
      const isEnd = isChange && (shown === limit || (shown > 0 && isFull?.()))
      if (seen - shown === MOST_SKIPPED_STATES || skippedBytes >= MOST_SKIPPED_BYTES || isEnd) {
        cursor = at
        return
      }
      seen++
      if (!isChange) {
        skippedBytes += bytes
        continue
      }
      shown++
      expectNotPruned(reader, at, oldestVersion)
      const timestampUsec = timeOf(at)
      if (reading.error) yield { version: at, timestampUsec, error: reading.error }
      else yield { version: at, timestampUsec, value: present(reading.value, at) }
    }
    if (seen === 0) expectCursorKept(start, undefined, oldestVersion)
    // A prune during the iteration may have left no state at all.
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

/** Checks that the state which a cursor names still exists. Below the window it may be gone, and others with it. */
function expectCursorKept(start: bigint | undefined, found: bigint | undefined, oldestVersion: bigint): void {
  if (start !== undefined && start < oldestVersion && start !== found) throw versionPruned(start, oldestVersion)
}

/**
 * Checks that a version is above the oldest one. States at or below that are no longer distinguished, so a pruner may
 * have removed one unnoticed.
 */
function expectNotPruned(reader: StateReader, version: bigint, pinnedOldestVersion: bigint): void {
  const { oldestVersion } = reader.ledger!
  if (oldestVersion > pinnedOldestVersion && version <= oldestVersion) throw versionPruned(version, oldestVersion)
}

/** Result of reading bytes: a value or an error. */
type Reading<V> =
  | { readonly value: V; readonly error?: undefined }
  | { readonly value?: undefined; readonly error: LedgerStateError }

interface Step<V> {
  readonly version: bigint
  readonly reading: Reading<V>
  /** Bytes that were read for it. */
  readonly bytes: number
  /** Whether the value differs from the value before the version. */
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

/** Whether two readings are the same for a caller. Two errors are, if a read throws the same error at both versions. */
function isSameReading<V>({ isEqual }: Observation<V>, a: Reading<V>, b: Reading<V>): boolean {
  if (a.error || b.error) return a.error?.code === b.error?.code && a.error?.message === b.error?.message
  return isEqual(a.value, b.value)
}

function readNothing<V>(observation: Observation<V>): Reading<V> {
  const nothing = observation.keys.map(() => null)
  return readStored(observation, nothing)
}

function* stepsNewestFirst<V>(observation: Observation<V>, states: Iterable<StoredState>): Generator<Step<V>> {
  let newer: { -readonly [K in keyof Step<V>]: Step<V>[K] } | undefined
  for (const { version, values } of states) {
    const reading = readStored(observation, values)
    if (newer) {
      newer.isChange = !isSameReading(observation, reading, newer.reading)
      yield newer
    }
    newer = { version, reading, bytes: bytesOf(values), isChange: true }
  }
  if (newer) {
    newer.isChange = !isSameReading(observation, readNothing(observation), newer.reading)
    yield newer
  }
}

function* stepsOldestFirst<V>(observation: Observation<V>, states: Iterable<StoredState>): Generator<Step<V>> {
  let before = readNothing(observation)
  for (const { version, values } of states) {
    const reading = readStored(observation, values)
    yield { version, reading, bytes: bytesOf(values), isChange: !isSameReading(observation, before, reading) }
    before = reading
  }
}

function bytesOf(values: readonly (Uint8Array | null)[]): number {
  let sum = 0
  for (const value of values) sum += value?.length ?? 0
  return sum
}
