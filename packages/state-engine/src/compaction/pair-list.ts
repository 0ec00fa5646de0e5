import { PACKED_REFERENCE_LENGTH, type PackedBytes } from '../records/bundle-reader.js'
import { PACKED } from '../records/history-log-record.js'
import { LARGE_REFERENCE_LENGTH, type LargeBytes } from '../records/large-values.js'
import { DELETED, LARGE } from '../records/latest-record.js'

/**
 * Superseded values of one key while it is merged, ascending by version. The bytes stay where they are until a chunk is
 * written. The object is reused for the next key.
 */
export class PairList {
  count = 0
  /** Number of bytes of payload of all pairs. */
  payloadBytes = 0
  readonly high: number[] = []
  readonly low: number[] = []
  /** Kind of each value: `DELETED`, `LARGE`, `PACKED` or 0. */
  readonly kind: number[] = []
  readonly source: Uint8Array[] = []
  readonly start: number[] = []
  readonly end: number[] = []
  /** Id of a large value or a bundle. The length of the value is in `end`. */
  readonly largeId: number[] = []
  /** Offset of the frame of a packed value. */
  readonly frame: number[] = []

  clear(): void {
    this.count = 0
    this.payloadBytes = 0
  }

  pushDeletion(high: number, low: number): void {
    this.#push(high, low, DELETED)
    this.start[this.count - 1] = 0
    this.end[this.count - 1] = 0
  }

  pushLarge(high: number, low: number, { id, length }: LargeBytes): void {
    this.#push(high, low, LARGE)
    this.largeId[this.count - 1] = id
    this.end[this.count - 1] = length
    this.payloadBytes += length
  }

  pushPacked(high: number, low: number, { id, frame, start, length }: PackedBytes): void {
    this.#push(high, low, PACKED)
    this.largeId[this.count - 1] = id
    this.frame[this.count - 1] = frame
    this.start[this.count - 1] = start
    this.end[this.count - 1] = length
    this.payloadBytes += length
  }

  pushValue(high: number, low: number, source: Uint8Array, start: number, end: number): void {
    this.#push(high, low, 0)
    this.source[this.count - 1] = source
    this.start[this.count - 1] = start
    this.end[this.count - 1] = end
    this.payloadBytes += end - start
  }

  /** Number of bytes that the value, or the reference to it, takes in a chunk. */
  encodedLength(pair: number): number {
    const kind = this.kind[pair]
    if (kind === PACKED) return PACKED_REFERENCE_LENGTH
    return kind === LARGE ? LARGE_REFERENCE_LENGTH : this.end[pair]! - this.start[pair]!
  }

  #push(high: number, low: number, kind: number): void {
    const pair = this.count++
    this.high[pair] = high
    this.low[pair] = low
    this.kind[pair] = kind
  }
}
