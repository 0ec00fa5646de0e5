import { nearestWrite, type StateReader } from '@ledger-state/engine'
import { changesNewestFirst, changesOldestFirst, type SpanChange, type VersionRange, within } from './span-changes.js'
import type { Span } from './spans.js'

/** Most spans merged for one page. Spans with later writes, in the order of the page, are left to later pages. */
const MOST_MERGED = 4_096

/** A span and its next write in the order of a page. */
interface Place {
  readonly span: Span
  /** The version of the next write. Before the first write was read, of one that may lie outside of the span. */
  version: bigint
  change: SpanChange | undefined
  rest: Iterator<SpanChange> | undefined
}

/** The next write in the order of a page. */
export interface MergedChange extends SpanChange {
  readonly span: Span
}

/** The writes of many spans in the order of a page. */
export interface MergedSpans extends Iterable<MergedChange> {
  /** Version up to which the merge has all spans; it ends before it reaches this version. Undefined if it has all. */
  readonly cutAt: bigint | undefined
}

/** Chooses the spans with the first writes in the order of a page, and merges them. */
export class SpanMerger {
  readonly #reader: StateReader
  readonly #range: VersionRange
  readonly #isNewestFirst: boolean
  #places: Place[] = []
  #cutAt: bigint | undefined

  constructor(reader: StateReader, range: VersionRange, isNewestFirst: boolean) {
    this.#reader = reader
    this.#range = range
    this.#isNewestFirst = isNewestFirst
  }

  add(span: Span): void {
    const version = this.#firstWrite(span)
    if (version === undefined) return
    this.#places.push({ span, version, change: undefined, rest: undefined })
    if (this.#places.length >= 2 * MOST_MERGED) this.#cut()
  }

  /** Version of the first write of a span in the order of the page; undefined if the range has none. */
  #firstWrite(span: Span): bigint | undefined {
    const { first, last } = within(span, this.#range)
    if (first > last) return undefined
    if (this.#isNewestFirst) {
      const version = nearestWrite(this.#reader, span.key, { until: last })
      return version != null && version >= first ? version : undefined
    }
    // The span may begin with a write of its store, and has none before. A later first write is found when the merge
    // comes to this version.
    if (first === 0n || first === span.first) return first
    return nearestWrite(this.#reader, span.key, { above: first - 1n, last }) ?? undefined
  }

  /** Keeps the first spans, and those with writes of the same version as the last of these. */
  #cut(): void {
    const sorted = this.#places.sort((a, b) => this.#compareVersions(a.version, b.version))
    const bound = sorted[MOST_MERGED - 1]!.version
    let kept = MOST_MERGED
    while (kept < sorted.length && sorted[kept]!.version === bound) kept++
    const next = sorted[kept]?.version
    if (next !== undefined && (this.#cutAt === undefined || this.#compareVersions(next, this.#cutAt) < 0))
      this.#cutAt = next
    this.#places = sorted.slice(0, kept)
  }

  #compareVersions(a: bigint, b: bigint): number {
    if (a === b) return 0
    return a > b === this.#isNewestFirst ? -1 : 1
  }

  /** Order of two places: by version, and within a version as changes are sorted, reversed with the versions. */
  #compare(a: Place, b: Place): number {
    const byVersion = this.#compareVersions(a.version, b.version)
    if (byVersion !== 0) return byVersion
    const { rank: left } = a.span
    const { rank: right } = b.span
    if (left === right) return 0
    return left > right === this.#isNewestFirst ? -1 : 1
  }

  /** Merges the spans that were added. */
  merge(): MergedSpans {
    const heap = new PlaceHeap((a, b) => this.#compare(a, b))
    for (const place of this.#places) heap.push(place)
    const cutAt = this.#cutAt
    const isCut = (version: bigint): boolean => cutAt !== undefined && this.#compareVersions(version, cutAt) >= 0
    const advance = (place: Place): void => this.#advance(place, heap)
    function* changes(): Generator<MergedChange> {
      for (let place = heap.pop(); place && !isCut(place.version); place = heap.pop()) {
        if (place.change) yield { ...place.change, span: place.span }
        advance(place)
      }
    }
    return { cutAt, [Symbol.iterator]: changes }
  }

  #advance(place: Place, heap: PlaceHeap): void {
    const open = this.#isNewestFirst ? changesNewestFirst : changesOldestFirst
    place.rest ??= open(this.#reader, place.span, this.#range)
    const { done, value } = place.rest.next()
    if (done) return
    place.change = value
    place.version = value.version
    heap.push(place)
  }
}

/** A binary heap: `pop` returns the first place in its order. */
class PlaceHeap {
  readonly #places: Place[] = []
  readonly #compare: (a: Place, b: Place) => number

  constructor(compare: (a: Place, b: Place) => number) {
    this.#compare = compare
  }

  push(place: Place): void {
    const places = this.#places
    let at = places.push(place) - 1
    for (; at > 0; at = (at - 1) >> 1) {
      const parent = (at - 1) >> 1
      if (this.#compare(places[parent]!, place) <= 0) break
      places[at] = places[parent]!
    }
    places[at] = place
  }

  pop(): Place | undefined {
    const places = this.#places
    const top = places[0]
    const last = places.pop()
    if (places.length === 0 || !last) return top
    let at = 0
    for (;;) {
      let child = 2 * at + 1
      if (child + 1 < places.length && this.#compare(places[child + 1]!, places[child]!) < 0) child++
      if (child >= places.length || this.#compare(last, places[child]!) <= 0) break
      places[at] = places[child]!
      at = child
    }
    places[at] = last
    return top
  }
}
