import type { SourceProgress } from '@ledger-state/feed'
import type { IngestCounters } from '@ledger-state/ingest'

/**
 * Span over which rates are measured. A state and the versions after it have different rates, and a link may become
 * slow.
 */
const WINDOW_MS = 60_000
const SAMPLE_MS = 1_000

type Counted = Pick<IngestCounters, 'entries' | 'writes' | 'bytes' | 'latestVersion'>

interface Sample {
  readonly atMs: number
  readonly writes: number
  readonly bytes: number
  readonly fetchedBytes: number
  readonly done: number
}

/** Progress and speed of an ingest. */
export interface IngestPace {
  readonly latestVersion: bigint | undefined
  /** Bytes of keys and values. */
  readonly bytes: number
  readonly progress: SourceProgress
  /** Part of the source that was read, from 0 to 1. */
  readonly share: number
  readonly writesPerSecond: number
  readonly bytesPerSecond: number
  readonly fetchedBytesPerSecond: number
  /** Seconds that are left; undefined while nothing was read lately. */
  readonly secondsLeft: number | undefined
}

/** Measures the speed of an ingest from its reports. */
export class PaceMeter {
  readonly #samples: Sample[] = []
  #unit: SourceProgress['unit'] | undefined

  /** Adds counts as of a moment in milliseconds. */
  measure(counters: Counted, progress: SourceProgress, atMs: number): IngestPace {
    const { entries, bytes, latestVersion } = counters
    const { done, total, unit, fetchedBytes = 0 } = progress
    const sample = { atMs, writes: entries + counters.writes, bytes, fetchedBytes, done }
    const last = this.#samples.at(-1)
    // The unit changes with the versions after a state; counts decrease when a source was opened again.
    if (unit !== this.#unit || (last && (done < last.done || fetchedBytes < last.fetchedBytes)))
      this.#samples.length = 0
    this.#unit = unit
    if (this.#samples.length === 0 || atMs - this.#samples.at(-1)!.atMs >= SAMPLE_MS) this.#samples.push(sample)
    while (this.#samples.length > 1 && this.#samples[1]!.atMs <= atMs - WINDOW_MS) this.#samples.shift()
    const from = this.#samples[0]!
    const seconds = (atMs - from.atMs) / 1_000
    const rate = (member: 'writes' | 'bytes' | 'fetchedBytes' | 'done'): number =>
      seconds > 0 ? (sample[member] - from[member]) / seconds : 0
    return {
      latestVersion,
      bytes,
      progress,
      share: total > 0 ? Math.min(1, done / total) : 0,
      writesPerSecond: rate('writes'),
      bytesPerSecond: rate('bytes'),
      fetchedBytesPerSecond: rate('fetchedBytes'),
      secondsLeft: rate('done') > 0 ? Math.max(0, total - done) / rate('done') : undefined,
    }
  }
}
