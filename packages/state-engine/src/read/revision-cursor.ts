import { Buffer } from 'node:buffer'
import { highHalf, lowHalf } from '../bytes/version-halves.js'
import type { LmdbStore } from '../lmdb/lmdb-store.js'
import { NONE, type Segment } from '../memtable/segment.js'
import { createKeyProbe, type KeyProbe } from '../segments/key-filter.js'
import { SegmentRevisions } from '../segments/segment-revisions.js'
import type { ReadSnapshot } from './read-snapshot.js'
import type { SegmentSlice } from './segment-slices.js'

/** The writes of a key in one file or in one part of the memtable. A search that finds nothing leaves the place undefined. */
interface RevisionSource {
  readonly version: bigint
  /** Copy of the stored form of the value; null for a deletion. */
  stored(): Uint8Array | null
  newestAtMost(version: bigint): boolean
  oldestAtLeast(version: bigint): boolean
  /** Moves to the previous or next revision of this source. Returns whether there is one. */
  older(): boolean
  newer(): boolean
}

/** The revisions of a key in one snapshot, in order, in segment files and in the memtable. */
export class RevisionCursor {
  readonly #probe: KeyProbe
  /** The oldest first. */
  #sources: RevisionSource[] = []
  /** Place of the source that has the revision; undefined before the oldest one. */
  #place: number | undefined

  constructor(store: LmdbStore) {
    this.#probe = createKeyProbe(store)
  }

  /** Moves before the oldest revision of a key in a snapshot. The snapshot must stay valid while the cursor is used. */
  open(key: Uint8Array, { slices, memtable, record }: ReadSnapshot): void {
    this.#probe.take(key)
    const merged = record!.ledger.latestVersion
    const hash = memtable.segments.length > 0 ? memtable.hashOf(key) : 0
    this.#sources = [
      ...slices.toReversed().map((slice) => new FileSource(slice, this.#probe)),
      ...memtable.segments.map((segment) => new MemtableSource(segment, key, hash, merged)),
    ]
    this.#place = undefined
  }

  /** Version of the revision at the cursor. */
  get version(): bigint {
    return this.#sources[this.#place!]!.version
  }

  /** Copy of the stored form of the value at the cursor; null for a deletion. */
  stored(): Uint8Array | null {
    return this.#sources[this.#place!]!.stored()
  }

  /** Moves to the newest revision at or below a version. Returns whether there is one. */
  newestAtMost(version: bigint): boolean {
    return this.#newestFrom(this.#sources.length - 1, version)
  }

  /** Moves to the previous revision. Returns whether there is one. */
  older(): boolean {
    const place = this.#place
    if (place === undefined) return false
    const { version } = this
    return this.#sources[place]!.older() || this.#newestFrom(place - 1, version - 1n)
  }

  /** Moves to the next revision, at first to the oldest. Returns whether there is one. */
  newer(): boolean {
    const before = this.#place
    const version = before === undefined ? 0n : this.version + 1n
    if (before !== undefined && this.#sources[before]!.newer()) return true
    for (let place = before === undefined ? 0 : before + 1; place < this.#sources.length; place++) {
      if (!this.#sources[place]!.oldestAtLeast(version)) continue
      this.#place = place
      return true
    }
    this.#place = undefined
    return false
  }

  #newestFrom(last: number, version: bigint): boolean {
    for (let place = last; place >= 0; place--) {
      if (!this.#sources[place]!.newestAtMost(version)) continue
      this.#place = place
      return true
    }
    this.#place = undefined
    return false
  }
}

class FileSource implements RevisionSource {
  readonly #first: bigint
  readonly #most: number
  readonly #revisions: SegmentRevisions

  constructor({ row, reader, most }: SegmentSlice, probe: KeyProbe) {
    this.#first = row.firstVersion
    this.#most = most
    this.#revisions = new SegmentRevisions(reader, probe)
  }

  get version(): bigint {
    return this.#first + BigInt(this.#revisions.version)
  }

  stored(): Uint8Array | null {
    return this.#revisions.value()
  }

  newestAtMost(version: bigint): boolean {
    return version >= this.#first && this.#revisions.newestAtMost(Math.min(Number(version - this.#first), this.#most))
  }

  oldestAtLeast(version: bigint): boolean {
    const least = version > this.#first ? Number(version - this.#first) : 0
    return this.#revisions.oldestAtLeast(least) && this.#revisions.version <= this.#most
  }

  older(): boolean {
    return this.#revisions.older()
  }

  newer(): boolean {
    return this.#revisions.newer() && this.#revisions.version <= this.#most
  }
}

class MemtableSource implements RevisionSource {
  readonly #segment: Segment
  readonly #key: Uint8Array
  readonly #hash: number
  /** Newest version that is merged: writes at or below it are in a file, too. */
  readonly #merged: bigint
  #entry = NONE

  constructor(segment: Segment, key: Uint8Array, hash: number, merged: bigint) {
    this.#segment = segment
    this.#key = key
    this.#hash = hash
    this.#merged = merged
  }

  get version(): bigint {
    return this.#segment.version(this.#entry)
  }

  stored(): Uint8Array | null {
    const segment = this.#segment
    const entry = this.#entry
    if (segment.isDeletion(entry)) return null
    return Buffer.from(segment.bytes.subarray(segment.valueStart(entry), segment.valueEnd(entry)))
  }

  newestAtMost(version: bigint): boolean {
    this.#entry = this.#segment.find(this.#key, this.#hash, highHalf(version), lowHalf(version))
    return this.#entry !== NONE && this.version > this.#merged
  }

  oldestAtLeast(version: bigint): boolean {
    const least = version > this.#merged ? version : this.#merged + 1n
    this.#entry = this.#segment.oldestAtLeast(this.#key, this.#hash, highHalf(least), lowHalf(least))
    return this.#entry !== NONE
  }

  older(): boolean {
    return this.newestAtMost(this.version - 1n)
  }

  newer(): boolean {
    return this.oldestAtLeast(this.version + 1n)
  }
}
