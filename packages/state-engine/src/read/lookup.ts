import { Buffer } from 'node:buffer'
import { storeCorrupt, storedValueEnd } from '@ledger-state/engine/authoring'
import { counterSeed } from '../bytes/counter-key.js'
import { isAtMost } from '../bytes/numbered-key.js'
import { CHECKSUM_LENGTH } from '../bytes/record.js'
import { keySeed } from '../bytes/stored-key.js'
import { hashSeedOf, type LmdbStore } from '../lmdb/lmdb-store.js'
import { SharedRecord } from '../lmdb/shared-record.js'
import type { ReadOptions } from '../lmdb/table.js'
import { fingerprintOf } from '../memtable/fingerprint.js'
import { KeyHash } from '../memtable/key-hash.js'
import type { Memtable } from '../memtable/memtable.js'
import { NONE, type Segment } from '../memtable/segment.js'
import { readPacked } from '../records/bundle-reader.js'
import { countFencesAtMost, FENCE_LENGTH, fenceLevel, fenceNumber } from '../records/fences.js'
import {
  countPairsAtMost,
  NODE_FENCES_AT,
  PACKED,
  packedReference,
  pairEnd,
  pairKind,
  pairStart,
  pairVersionHigh,
  pairVersionLow,
  partCount,
  recordLevel,
} from '../records/history-log-record.js'
import { LARGE_REFERENCE_LENGTH, readLarge } from '../records/large-values.js'
import { DELETED, FENCES_AT, LARGE, LONG_KEY, largeReference, latestTail } from '../records/latest-record.js'
import type { LedgerRecord } from '../records/ledger-record.js'
import { isTransposed, TransposedPair } from '../records/transposed-chunk.js'
import { SegmentMatch } from '../segments/block-search.js'
import { ABSENT, type Found, PRESENT, REMOVED } from '../segments/found.js'
import { KeyProbe } from '../segments/key-filter.js'
import type { ReadSnapshot } from './read-snapshot.js'
import type { SegmentSlice } from './segment-slices.js'
import { VerifiedAbsences } from './verified-absences.js'

/**
 * Looks up the newest write at or below a version: first in the memtable, then in the record of the key's newest
 * merged write, whose fences lead to the one chunk that has an older one. It uses only gets, because a cursor would
 * cost as much to set up as all of them. It allocates nothing, and keeps what it found until the next look-up.
 */
export class Lookup {
  #bytes: Uint8Array = new Uint8Array(0)
  #start = 0
  #end = 0
  #isOwn = false
  #writtenHigh = 0
  #writtenLow = 0
  readonly #store: LmdbStore
  readonly #record = new SharedRecord()
  /** Record of the history log: lmdb-js decompresses these into a separate buffer. */
  readonly #historyRecord = new SharedRecord()
  readonly #transposed = new TransposedPair()
  readonly #absences: VerifiedAbsences
  /** Ledger record of the snapshot of this look-up. */
  #merged: LedgerRecord | undefined
  readonly #probe: KeyProbe
  readonly #match = new SegmentMatch()
  /** Whether the value is in a file that is closed once no state of the store has it. */
  #isInFile = false
  #copied = Buffer.alloc(0)

  constructor(store: LmdbStore) {
    this.#store = store
    this.#absences = new VerifiedAbsences(store)
    this.#probe = new KeyProbe(new KeyHash(hashSeedOf(store)))
  }

  /** Version that wrote the value that was found. */
  get writtenVersion(): bigint {
    return (BigInt(this.#writtenHigh) << 32n) | BigInt(this.#writtenLow)
  }

  /** The value that was found, in place: valid until the next read of any engine in this thread. */
  peek(): Uint8Array {
    if (this.#isInFile) this.#copyFromFile()
    const end = storedValueEnd(this.#bytes, this.#start, this.#end)
    return new Uint8Array(this.#bytes.buffer, this.#bytes.byteOffset + this.#start, end - this.#start)
  }

  /** Copy of the annotation of the value that was found; undefined if it has none. */
  annotation(): Uint8Array | undefined {
    const start = storedValueEnd(this.#bytes, this.#start, this.#end)
    return start < this.#end - 1 ? Buffer.from(this.#bytes.subarray(start, this.#end - 1)) : undefined
  }

  /** Copy of the value that was found, in Node's pool of memory: a separate typed array costs ten times as much. */
  copy(): Uint8Array {
    const end = storedValueEnd(this.#bytes, this.#start, this.#end)
    const value = new Uint8Array(this.#bytes.buffer, this.#bytes.byteOffset + this.#start, end - this.#start)
    if (this.#isOwn) return value
    const copy = Buffer.allocUnsafe(value.length)
    copy.set(value)
    return copy
  }

  /** Looks up a key at a version, given as halves. @throws `store_corrupt` */
  find(key: Uint8Array, high: number, low: number, { memtable, options, record, slices }: ReadSnapshot): Found {
    this.#merged = record
    this.#isInFile = false
    if (memtable.segments.length > 0) {
      const found = this.#findInMemtable(key, high, low, memtable)
      if (found !== ABSENT) return found
    }
    return this.#store.segments
      ? this.#findInSegments(key, high, low, slices)
      : this.#findMerged(key, high, low, options)
  }

  #findInSegments(key: Uint8Array, high: number, low: number, slices: readonly SegmentSlice[]): Found {
    const probe = this.#probe.take(key)
    const match = this.#match
    for (let at = 0; at < slices.length; at++) {
      const { reader, firstHigh, firstLow, most } = slices[at]!
      const version = (high - firstHigh) * 2 ** 32 + (low - firstLow)
      if (version < 0) continue
      const found = reader.find(probe, version < most ? version : most, match)
      if (found === ABSENT) continue
      const writtenLow = firstLow + match.version
      this.#writtenHigh = firstHigh + Math.floor(writtenLow / 2 ** 32)
      this.#writtenLow = writtenLow >>> 0
      this.#isOwn = false
      this.#isInFile = true
      this.#bytes = match.bytes
      this.#start = match.start
      this.#end = match.end
      return found
    }
    return ABSENT
  }

  #copyFromFile(): void {
    const length = this.#end - this.#start
    if (length > this.#copied.length) this.#copied = Buffer.allocUnsafeSlow(2 * length)
    this.#copied.set(new Uint8Array(this.#bytes.buffer, this.#bytes.byteOffset + this.#start, length))
    this.#bytes = this.#copied
    this.#start = 0
    this.#end = length
    this.#isInFile = false
  }

  #findInMemtable(key: Uint8Array, high: number, low: number, memtable: Memtable): Found {
    const { segments } = memtable
    let last = segments.length - 1
    // Most reads of the past are below the whole memtable, and then the key need not be hashed.
    while (last >= 0 && !segments[last]!.reaches(high, low)) last--
    // Most keys are not in the memtable, and need not be hashed either.
    const fingerprint = last >= 0 ? fingerprintOf(key, 0, key.length) : 0
    let hash: number | undefined
    for (; last >= 0; last--) {
      const segment = segments[last]!
      if (!segment.mayHave(fingerprint)) continue
      hash ??= memtable.hashOf(key)
      const entry = segment.find(key, hash, high, low)
      if (entry !== NONE) return this.#takeEntry(segment, entry)
    }
    return ABSENT
  }

  #takeEntry(segment: Segment, entry: number): Found {
    this.#writtenHigh = segment.versionHigh(entry)
    this.#writtenLow = segment.versionLow(entry)
    if (segment.isDeletion(entry)) return REMOVED
    this.#isOwn = false
    this.#bytes = segment.bytes
    this.#start = segment.valueStart(entry)
    this.#end = segment.valueEnd(entry)
    return PRESENT
  }

  #findMerged(key: Uint8Array, high: number, low: number, options: ReadOptions): Found {
    const record = this.#record
    if (!record.load(this.#store.latest, key, options)) {
      if (this.#store.verifyReads) this.#absences.expectAbsent(key, this.#merged, options)
      return ABSENT
    }
    if (this.#store.verifyReads) record.verify(keySeed(key))
    const flags = record.bytes[0]!
    if (flags & LONG_KEY && !this.#isKey(key, options)) return ABSENT
    const { view } = record
    const latestHigh = view.getUint32(2)
    const latestLow = view.getUint32(6)
    if (isAtMost(latestHigh, latestLow, high, low)) {
      this.#writtenHigh = latestHigh
      this.#writtenLow = latestLow
      const tail = latestTail(record) + (flags & LONG_KEY ? LARGE_REFERENCE_LENGTH : 0)
      return this.#take(record, flags, tail, record.length - CHECKSUM_LENGTH, options)
    }
    return this.#findSuperseded(high, low, options)
  }

  /** Follows the fences of the latest record to the chunk that has the version. */
  #findSuperseded(high: number, low: number, options: ReadOptions): Found {
    let record = this.#record
    let listAt = FENCES_AT
    for (let above = MOST_LEVELS; above > 0; ) {
      const place = countFencesAtMost(record.view, listAt, partCount(record), high, low) - 1
      if (place < 0) return ABSENT
      const at = listAt + FENCE_LENGTH * place
      const level = fenceLevel(record, at)
      if (level >= above) throw storeCorrupt('a fence leads to a node that is not below it')
      const number = fenceNumber(record, at)
      record = this.#historyRecord
      if (!record.load(this.#store.historyLog, number, options))
        throw storeCorrupt(`record ${number} of the history log is missing`)
      if (this.#store.verifyReads) record.verify(counterSeed(number))
      if (recordLevel(record) !== level)
        throw storeCorrupt(`record ${number} of the history log is not of level ${level}`)
      listAt = NODE_FENCES_AT
      above = level
    }
    if (isTransposed(record)) return this.#takeTransposed(high, low)
    return this.#takePair(countPairsAtMost(record, high, low) - 1, options)
  }

  #takePair(pair: number, options: ReadOptions): Found {
    if (pair < 0) throw beginsAfterFence()
    const record = this.#historyRecord
    this.#writtenHigh = pairVersionHigh(record, pair)
    this.#writtenLow = pairVersionLow(record, pair)
    const kind = pairKind(record, pair)
    const start = pairStart(record, pair)
    if (kind !== PACKED) return this.#take(record, kind, start, pairEnd(record, pair), options)
    this.#takeOwn(readPacked(this.#store, packedReference(record, start), options))
    return PRESENT
  }

  #takeTransposed(high: number, low: number): Found {
    const pair = this.#transposed
    if (!pair.find(this.#historyRecord, high, low)) throw beginsAfterFence()
    this.#writtenHigh = pair.versionHigh
    this.#writtenLow = pair.versionLow
    this.#isOwn = false
    this.#bytes = pair.bytes
    this.#start = pair.valueStart
    this.#end = pair.valueEnd
    return PRESENT
  }

  #take(record: SharedRecord, flags: number, start: number, end: number, options: ReadOptions): Found {
    if (flags & DELETED) return REMOVED
    if (flags & LARGE) {
      this.#takeOwn(readLarge(this.#store, largeReference(record, start), options))
      return PRESENT
    }
    this.#isOwn = false
    this.#bytes = record.bytes
    this.#start = start
    this.#end = end
    return PRESENT
  }

  /** Takes a value that was joined for this look-up alone. */
  #takeOwn(bytes: Uint8Array): void {
    this.#isOwn = true
    this.#bytes = bytes
    this.#start = 0
    this.#end = bytes.length
  }

  /**
   * Whether the record belongs to this long key. Loads the record again, because the stored key overwrote the buffer.
   */
  #isKey(key: Uint8Array, options: ReadOptions): boolean {
    const reference = largeReference(this.#record, latestTail(this.#record))
    const same = Buffer.compare(readLarge(this.#store, reference, options), key) === 0
    return this.#record.load(this.#store.latest, key, options) && same
  }
}

function beginsAfterFence(): Error {
  return storeCorrupt('a chunk of the history log begins after its fence')
}

/** Most levels: a level is one byte. */
const MOST_LEVELS = 256
