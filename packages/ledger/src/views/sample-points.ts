import type { StateReader } from '@ledger-state/engine'

/** Evenly spaced points of a history. */
export type ViewSample =
  /** A sample at every multiple of a number of microseconds, at least one second; each shows the value at that time. */
  | { readonly everyUsec: bigint }
  /** A number of versions of the range, at least 2, with its first and last version. */
  | { readonly points: number }

/** Points of a range that one page shows. */
export interface SampledPage {
  /** First and last version of the range, both in the window. */
  readonly first: bigint
  readonly last: bigint
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

/** The points of a page, in its order. Over an async state, one round loads the data for all of them. */
export function samplePoints(reader: StateReader, page: SampledPage): readonly SamplePoint[] {
  return 'everyUsec' in page.sample
    ? pointsInTime(reader, page, page.sample.everyUsec)
    : pointsOfVersions(page, page.sample.points)
}

function pointsInTime(reader: StateReader, page: SampledPage, every: bigint): readonly SamplePoint[] {
  const { first, last, isUpward, start, most } = page
  const begin = reader.blockAt(first).block.timestampUsec
  const end = reader.blockAt(last).block.timestampUsec
  const opening = isUpward ? ((begin + every - 1n) / every) * every : (end / every) * every
  const points: SamplePoint[] = []
  let time = start ?? opening
  for (; points.length < most && time >= begin && time <= end; time += isUpward ? every : -every) {
    const block = reader.blockAtTime(time)
    if (!block) continue
    const version = block.lastVersion < last ? block.lastVersion : last
    points.push({ version: version < first ? first : version, timestampUsec: time, cursor: time })
  }
  return points
}

function pointsOfVersions({ first, last, isUpward, start, most }: SampledPage, count: number): readonly SamplePoint[] {
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
