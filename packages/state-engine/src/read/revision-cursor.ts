import { Buffer } from 'node:buffer'
import { storeCorrupt } from '@ledger-state/engine/authoring'
import { counterSeed } from '../bytes/counter-key.js'
import { highHalf, lowHalf } from '../bytes/numbered-key.js'
import { CHECKSUM_LENGTH } from '../bytes/record.js'
import { keySeed } from '../bytes/stored-key.js'
import type { LmdbStore } from '../lmdb/lmdb-store.js'
import { SharedRecord } from '../lmdb/shared-record.js'
import { expectAbsent } from '../lmdb/verify-absence.js'
import { NONE, type Segment } from '../memtable/segment.js'
import { readPacked } from '../records/bundle-reader.js'
import { NODE_FENCES_AT, PACKED, packedReference, recordLevel } from '../records/history-log-record.js'
import { LARGE_REFERENCE_LENGTH, readLarge } from '../records/large-values.js'
import { DELETED, FENCES_AT, LARGE, LONG_KEY, largeReference, latestTail } from '../records/latest-record.js'
import { toPlainChunk } from '../records/transposed-chunk.js'
import type { ReadSnapshot } from './read-snapshot.js'
import { Chunk, StoredFences } from './stored-history.js'

/**
 * Position of a cursor. Revisions of the memtable are newer than the newest that is merged; those of the history log are
 * older.
 */
type Place = MemtablePlace | ChunkPlace | typeof LATEST | undefined

interface MemtablePlace {
  readonly kind: 'memtable'
  readonly segment: number
  readonly entry: number
}

interface ChunkPlace {
  readonly kind: 'chunk'
  readonly path: readonly Step[]
  readonly chunk: Chunk
  readonly pair: number
}

const LATEST = { kind: 'latest' } as const

/** A fence of a list of fences: the first list is in the latest record, each further one in a node. */
interface Step {
  readonly fences: StoredFences
  readonly place: number
}

/** A copy of the record of the newest merged write of a key. */
interface MergedRecord {
  readonly record: SharedRecord
  readonly version: bigint
  readonly flags: number
  readonly fences: StoredFences
  /** Offset of the value, or of the reference to it. */
  readonly valueAt: number
}

/**
 * The revisions of a key in one snapshot, in order, whether they are in the memtable, in the latest record or in the
 * history log. A step costs nothing within a chunk, or else one get. The cursor reads no chunk that the window does not
 * see.
 */
export class RevisionCursor {
  readonly #store: LmdbStore
  readonly #record = new SharedRecord()
  #key: Uint8Array = new Uint8Array(0)
  #hash = 0
  #snapshot: ReadSnapshot | undefined
  #segments: readonly Segment[] = []
  #oldestVersion = 0n
  #merged: MergedRecord | undefined
  /** Position; undefined before the oldest revision. */
  #place: Place

  constructor(store: LmdbStore) {
    this.#store = store
  }

  /** Moves before the oldest revision of a key in a snapshot. The snapshot must stay valid while the cursor is used. */
  open(key: Uint8Array, snapshot: ReadSnapshot): void {
    const { memtable, ledger } = snapshot
    this.#key = key
    this.#snapshot = snapshot
    this.#segments = memtable.segments
    this.#hash = this.#segments.length > 0 ? memtable.hashOf(key) : 0
    this.#oldestVersion = ledger!.oldestVersion
    this.#merged = this.#loadMerged()
    this.#place = undefined
  }

  /** Version of the revision at the cursor. */
  get version(): bigint {
    const place = this.#place!
    if (place.kind === 'memtable') return this.#segments[place.segment]!.version(place.entry)
    return place.kind === 'latest' ? this.#merged!.version : place.chunk.versionAt(place.pair)
  }

  /** Copy of the stored form of the value at the cursor; null for a deletion. */
  stored(): Uint8Array | null {
    const place = this.#place!
    if (place.kind === 'memtable') return valueOfEntry(this.#segments[place.segment]!, place.entry)
    if (place.kind === 'chunk') {
      const { chunk, pair } = place
      const [kind, start] = [chunk.kindOf(pair), chunk.startOf(pair)]
      if (kind !== PACKED) return this.#valueOf(chunk.record, kind, start, chunk.endOf(pair))
      return readPacked(this.#store, packedReference(chunk.record, start), this.#snapshot!.options)
    }
    const { record, flags, valueAt } = this.#merged!
    return this.#valueOf(record, flags, valueAt, record.length - CHECKSUM_LENGTH)
  }

  /** Moves to the newest revision at or below a version, which must be in the window. Returns whether there is one. */
  newestAtMost(version: bigint): boolean {
    this.#place = this.#newestInMemtable(version) ?? this.#newestMerged(version)
    return this.#place !== undefined
  }

  /** Moves to the previous revision. Returns whether there is one that the window may see; otherwise none is older. */
  older(): boolean {
    const place = this.#place
    if (place?.kind === 'memtable') this.#place = this.#olderInMemtable(place.segment, place.entry)
    else if (place?.kind === 'latest') this.#place = this.#newestOf(this.#merged!.fences, [])
    else if (place) this.#place = this.#olderInHistory(place)
    return this.#place !== undefined
  }

  /** Moves to the next revision, at first to the oldest. Returns whether there is one. */
  newer(): boolean {
    const place = this.#place
    if (!place) this.#place = (this.#merged && this.#oldestOf(this.#merged.fences, [])) ?? this.#newestRecord()
    else if (place.kind === 'chunk') this.#place = this.#newerInHistory(place)
    else this.#place = this.#oldestEntryFrom(this.version + 1n)
    return this.#place !== undefined
  }

  // The memtable.

  #newestInMemtable(version: bigint): Place {
    const [high, low] = [highHalf(version), lowHalf(version)]
    for (let segment = this.#segments.length - 1; segment >= 0; segment--) {
      const entry = this.#segments[segment]!.find(this.#key, this.#hash, high, low)
      if (entry !== NONE) return this.#unlessMerged(segment, entry)
    }
    return undefined
  }

  #olderInMemtable(segment: number, entry: number): Place {
    const older = this.#segments[segment]!.older(entry)
    if (older !== NONE) return this.#unlessMerged(segment, older) ?? this.#mergedPlace()
    for (let before = segment - 1; before >= 0; before--) {
      const newest = this.#segments[before]!.newest(this.#key, this.#hash)
      if (newest !== NONE) return this.#unlessMerged(before, newest) ?? this.#mergedPlace()
    }
    return this.#mergedPlace()
  }

  #oldestEntryFrom(version: bigint): Place {
    const [high, low] = [highHalf(version), lowHalf(version)]
    for (const [at, segment] of this.#segments.entries()) {
      const entry = segment.oldestAtLeast(this.#key, this.#hash, high, low)
      if (entry !== NONE) return { kind: 'memtable', segment: at, entry }
    }
    return undefined
  }

  /** Leaves out an entry of the memtable that a merge under way has written already. */
  #unlessMerged(segment: number, entry: number): Place {
    if (this.#merged && this.#segments[segment]!.version(entry) <= this.#merged.version) return undefined
    return { kind: 'memtable', segment, entry }
  }

  // The latest record and the history log.

  #mergedPlace(): Place {
    return this.#merged && LATEST
  }

  #newestRecord(): Place {
    return this.#mergedPlace() ?? this.#oldestEntryFrom(0n)
  }

  #newestMerged(version: bigint): Place {
    if (!this.#merged) return undefined
    if (this.#merged.version <= version) return LATEST
    return this.#newestOf(this.#merged.fences, [], version)
  }

  /** The newest revision that a list of fences leads to; at or below a version, if one is given. */
  #newestOf(fences: StoredFences, above: readonly Step[], version?: bigint): Place {
    const place = (version === undefined ? fences.count : fences.countAtMost(version)) - 1
    // No version sees what was superseded at or below the oldest version, and it may have been pruned.
    if (place < 0 || fences.endAt(place) <= this.#oldestVersion) return undefined
    const path = [...above, { fences, place }]
    const below = this.#load(fences, place)
    if (below instanceof StoredFences) return this.#newestOf(below, path, version)
    const pair = (version === undefined ? below.count : below.countAtMost(version)) - 1
    if (pair < 0) throw storeCorrupt('a chunk of the history log begins after its fence')
    return { kind: 'chunk', path, chunk: below, pair }
  }

  /** The oldest revision that a list of fences leads to, of those that the window may see. */
  #oldestOf(fences: StoredFences, above: readonly Step[]): Place {
    let place = 0
    while (place < fences.count && fences.endAt(place) <= this.#oldestVersion) place++
    if (place === fences.count) return undefined
    const path = [...above, { fences, place }]
    const below = this.#load(fences, place)
    return below instanceof StoredFences ? this.#oldestOf(below, path) : { kind: 'chunk', path, chunk: below, pair: 0 }
  }

  #olderInHistory({ path, chunk, pair }: ChunkPlace): Place {
    if (pair > 0) return { kind: 'chunk', path, chunk, pair: pair - 1 }
    for (let depth = path.length - 1; depth >= 0; depth--) {
      const { fences, place } = path[depth]!
      if (place > 0) return this.#newestOf(fences, path.slice(0, depth), fences.firstAt(place) - 1n)
    }
    return undefined
  }

  #newerInHistory({ path, chunk, pair }: ChunkPlace): Place {
    if (pair + 1 < chunk.count) return { kind: 'chunk', path, chunk, pair: pair + 1 }
    for (let depth = path.length - 1; depth >= 0; depth--) {
      const { fences, place } = path[depth]!
      if (place + 1 < fences.count) return this.#enter(fences, place + 1, path.slice(0, depth))
    }
    return this.#mergedPlace()
  }

  /** The first revision that a fence leads to. */
  #enter(fences: StoredFences, place: number, above: readonly Step[]): Place {
    const path = [...above, { fences, place }]
    const below = this.#load(fences, place)
    return below instanceof StoredFences ? this.#enter(below, 0, path) : { kind: 'chunk', path, chunk: below, pair: 0 }
  }

  #load(fences: StoredFences, place: number): StoredFences | Chunk {
    const number = fences.numberAt(place)
    const level = fences.levelAt(place)
    const record = this.#record
    if (!record.load(this.#store.historyLog, number, this.#snapshot!.options)) {
      throw storeCorrupt(`record ${number} of the history log is missing`)
    }
    if (this.#store.verifyReads) record.verify(counterSeed(number))
    if (recordLevel(record) !== level)
      throw storeCorrupt(`record ${number} of the history log is not of level ${level}`)
    if (level === 0) return new Chunk(toPlainChunk(record.detach()))
    if (fences.level <= level) throw storeCorrupt('a fence leads to a node that is not below it')
    return new StoredFences(record.detach(), NODE_FENCES_AT, fences.endAt(place), level)
  }

  #loadMerged(): MergedRecord | undefined {
    const { options } = this.#snapshot!
    if (!this.#record.load(this.#store.latest, this.#key, options)) {
      if (this.#store.verifyReads) expectAbsent(this.#store, this.#key, options)
      return undefined
    }
    if (this.#store.verifyReads) this.#record.verify(keySeed(this.#key))
    const record = this.#record.detach()
    const flags = record.bytes[0]!
    const tail = latestTail(record)
    if (flags & LONG_KEY) {
      const stored = readLarge(this.#store, largeReference(record, tail), options)
      if (Buffer.compare(stored, this.#key) !== 0) return undefined
    }
    const version = record.view.getBigUint64(2)
    const fences = new StoredFences(record, FENCES_AT, version)
    return { record, version, flags, fences, valueAt: tail + (flags & LONG_KEY ? LARGE_REFERENCE_LENGTH : 0) }
  }

  #valueOf(record: SharedRecord, flags: number, start: number, end: number): Uint8Array | null {
    if (flags & DELETED) return null
    if (flags & LARGE) return readLarge(this.#store, largeReference(record, start), this.#snapshot!.options)
    return record.copy(start, end)
  }
}

function valueOfEntry(segment: Segment, entry: number): Uint8Array | null {
  if (segment.isDeletion(entry)) return null
  return Buffer.from(segment.bytes.subarray(segment.valueStart(entry), segment.valueEnd(entry)))
}
