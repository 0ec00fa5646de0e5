import { larger } from '@ledger-state/core'
import { type LedgerSummary, type StateReader, versionPruned } from '@ledger-state/engine'
import { timePruned } from '../errors.js'

/** Evenly spaced points of a history. */
export type ViewSample =
  /**
   * A sample at every multiple of a number of microseconds, at least one second; each shows the value at that time. The
   * first and the last time are those of the first and the last version of the range, or the given ones.
   */
  | TimeSample
  /** A number of versions of the range, at least 2, with its first and last version. */
  | { readonly points: number }

interface TimeSample {
  readonly everyUsec: bigint
  readonly fromUsec?: bigint | undefined
  readonly toUsec?: bigint | undefined
}

/** Points of a range that one page shows. */
export interface SampledPage {
  /** First and last version of the range, both in the window. */
  readonly first: bigint
  readonly last: bigint
  /** The ledger whose latest version ends the range if nothing else does. */
  readonly ledger: LedgerSummary
  readonly sample: ViewSample
  readonly isUpward: boolean
  /** Cursor of the page before. */
  readonly start: bigint | undefined
  /** Most points of the page. */
  readonly most: number
}

export interface SamplePoint {
  readonly version: bigint
  /** Time of the point, if points are times. */
  readonly timestampUsec: bigint | undefined
  /** Version at which a page that begins with this point starts. */
  readonly cursor: bigint
}

/**
 * Reads the ends of a range, and returns the function that reads the points of a page, in its order. Over an async state, one
 * round then loads the data for all of them; before the ends are loaded it would load other times.
 * @throws `version_pruned`, as the function does, if the page begins below the window, because points would be missing
 */
export function beginSampling(reader: StateReader, page: SampledPage): () => readonly SamplePoint[] {
  const { sample } = page
  return 'everyUsec' in sample ? beginTimes(reader, page, sample) : () => pointsOfVersions(page, sample.points)
}

function beginTimes(reader: StateReader, page: SampledPage, sample: TimeSample): () => readonly SamplePoint[] {
  const { first, last, ledger, start } = page
  const { everyUsec, fromUsec, toUsec } = sample
  const oldestUsec = ledger.oldestBlock.timestampUsec
  if (start !== undefined && start < oldestUsec) throw timePruned(start, ledger)
  const begin = fromUsec === undefined ? reader.blockAt(first).block.timestampUsec : larger(fromUsec, oldestUsec)
  // After the last block, further ones may begin at or before a time that has passed. They may have come since the first page.
  const isEndKnown =
    toUsec !== undefined && last < ledger.latestVersion && reader.blockAt(last + 1n).block.timestampUsec > toUsec
  const end = isEndKnown ? toUsec : reader.blockAt(last).block.timestampUsec
  return () => pointsInTime(reader, page, { every: everyUsec, begin, end })
}

interface Times {
  readonly every: bigint
  /** First and last possible time. */
  readonly begin: bigint
  readonly end: bigint
}

function pointsInTime(
  reader: StateReader,
  { last, isUpward, start, most }: SampledPage,
  { every, begin, end }: Times,
): readonly SamplePoint[] {
  const opening = isUpward ? ((begin + every - 1n) / every) * every : (end / every) * every
  const points: SamplePoint[] = []
  let time = start ?? opening
  let isKept = true
  for (let left = most; left > 0 && time >= begin && time <= end; left--) {
    const block = reader.blockAtTime(time)
    // It was pruned since, or an async state has to load it: then all of the page are asked for first.
    if (!block) isKept = false
    const version = block && block.lastVersion < last ? block.lastVersion : last
    points.push({ version, timestampUsec: time, cursor: time })
    time += isUpward ? every : -every
  }
  if (!isKept) throw timePruned(begin, reader.ledger!)
  return points
}

function pointsOfVersions(page: SampledPage, count: number): readonly SamplePoint[] {
  const { first, last, ledger, isUpward, start, most } = page
  if (start !== undefined && start < ledger.oldestVersion) throw versionPruned(start, ledger.oldestVersion)
  const points: SamplePoint[] = []
  for (let at = 0n; at < count && points.length < most; at++) {
    const place = isUpward ? at : BigInt(count) - 1n - at
    const version = first + ((last - first) * place) / BigInt(count - 1)
    if (points.at(-1)?.version === version) continue
    if (start !== undefined && (isUpward ? version < start : version > start)) continue
    points.push({ version, timestampUsec: undefined, cursor: version })
  }
  return points
}
