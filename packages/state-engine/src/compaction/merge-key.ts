import { isAtMost } from '../bytes/numbered-key.js'
import { CHECKSUM_LENGTH, type RecordBuilder } from '../bytes/record.js'
import { isLongKey, keySeed, keyToStoredKey } from '../bytes/stored-key.js'
import type { LmdbStore } from '../lmdb/lmdb-store.js'
import { SharedRecord } from '../lmdb/shared-record.js'
import type { Segment } from '../memtable/segment.js'
import { FENCE_LENGTH } from '../records/fences.js'
import { MAX_CHUNK_VALUE_LENGTH } from '../records/history-log-record.js'
import { dropLarge, LARGE_REFERENCE_LENGTH, type LargeBytes } from '../records/large-values.js'
import {
  DELETED,
  FENCES_AT,
  LARGE,
  LONG_KEY,
  largeReference,
  latestTail,
  MAX_INLINE_VALUE_LENGTH,
} from '../records/latest-record.js'
import type { GenerationWriter } from './generation-writer.js'
import { MergedFences } from './merged-fences.js'
import { PairList } from './pair-list.js'

const NO_OPTIONS = {}

/**
 * Merges the writes of one key into its record in `latest`, in the write transaction of the caller. Superseded values
 * go to the history log, unless no version of the window sees them. Merging the same writes again changes nothing.
 */
export class KeyMerge {
  /** Number of bytes of payload by which the store has grown. */
  payloadBytes = 0
  readonly #store: LmdbStore
  readonly #builder: RecordBuilder
  readonly #output: GenerationWriter
  readonly #oldestHigh: number
  readonly #oldestLow: number
  readonly #record = new SharedRecord()
  readonly #pairs = new PairList()
  readonly #fences = new MergedFences()
  // The state of the key after the writes applied so far. A value, or the reference to a large one, stays where it came
  // from.
  #exists = false
  #high = 0
  #low = 0
  #flags = 0
  #source: Uint8Array = new Uint8Array(0)
  #start = 0
  #end = 0
  #large: LargeBytes | undefined
  #longKey: LargeBytes | undefined

  /** Starts merges of keys. `oldestHigh` and `oldestLow` are the halves of the oldest version. */
  constructor(
    store: LmdbStore,
    builder: RecordBuilder,
    output: GenerationWriter,
    oldestHigh: number,
    oldestLow: number,
  ) {
    this.#store = store
    this.#builder = builder
    this.#output = output
    this.#oldestHigh = oldestHigh
    this.#oldestLow = oldestLow
  }

  /** Merges entries of a key, from the newest at `first` to the oldest before `end`. */
  merge(segment: Segment, entries: Int32Array, first: number, end: number): void {
    const someEntry = entries[first]!
    const key = segment.bytes.subarray(segment.keyStart(someEntry), segment.keyEnd(someEntry))
    const hasRecord = this.#load(key)
    const recordHigh = this.#high
    const recordLow = this.#low
    const bytesBefore = this.#valueBytes()
    let isChanged = false
    for (let at = end - 1; at >= first; at--) {
      const entry = entries[at]!
      const high = segment.versionHigh(entry)
      const low = segment.versionLow(entry)
      // An earlier merge of the segment, which was cut short, has written this entry.
      if (hasRecord && isAtMost(high, low, recordHigh, recordLow)) continue
      const isDeletion = segment.isDeletion(entry)
      if (isDeletion && (!this.#exists || this.#flags & DELETED)) continue
      if (this.#exists) this.#supersede(high, low)
      this.#take(segment, entry, high, low, isDeletion)
      isChanged = true
    }
    if (!isChanged) return
    const keyBefore = hasRecord ? key.length : 0
    const keyAfter = this.#put(key, hasRecord) ? key.length : 0
    this.payloadBytes += keyAfter - keyBefore + this.#valueBytes() - bytesBefore + this.#pairs.payloadBytes
  }

  #load(key: Uint8Array): boolean {
    const record = this.#record
    this.#pairs.clear()
    this.#fences.clear()
    this.#large = undefined
    this.#longKey = undefined
    this.#exists = record.load(this.#store.latest, key, NO_OPTIONS)
    this.#flags = DELETED
    if (!this.#exists) return false
    // A damaged record must not get a new checksum.
    if (this.#store.verifyReads) record.verify(keySeed(key))
    const { bytes, view } = record
    let at = latestTail(record)
    this.#fences.load(bytes, FENCES_AT, bytes[1]!)
    this.#flags = bytes[0]! & (DELETED | LARGE)
    this.#high = view.getUint32(2)
    this.#low = view.getUint32(6)
    if (bytes[0]! & LONG_KEY) {
      this.#longKey = largeReference(record, at)
      at += LARGE_REFERENCE_LENGTH
    }
    if (this.#flags & LARGE) this.#large = largeReference(record, at)
    this.#source = bytes
    this.#start = at
    this.#end = record.length - CHECKSUM_LENGTH
    return true
  }

  #take(segment: Segment, entry: number, high: number, low: number, isDeletion: boolean): void {
    this.#exists = true
    this.#high = high
    this.#low = low
    this.#flags = isDeletion ? DELETED : 0
    this.#large = undefined
    this.#source = segment.bytes
    this.#start = segment.valueStart(entry)
    this.#end = segment.valueEnd(entry)
  }

  /** Supersedes the value by a version, given as halves. */
  #supersede(byHigh: number, byLow: number): void {
    const large = this.#large
    if (isAtMost(byHigh, byLow, this.#oldestHigh, this.#oldestLow)) {
      if (large) dropLarge(this.#store, large)
      return
    }
    if (this.#flags & DELETED) {
      this.#pairs.pushDeletion(this.#high, this.#low)
      return
    }
    if (large) {
      this.#output.garbage.addLarge(large)
      this.#pairs.pushLarge(this.#high, this.#low, large)
    } else if (this.#end - this.#start > MAX_CHUNK_VALUE_LENGTH) {
      const packed = this.#output.pack(this.#source, this.#start, this.#end)
      this.#pairs.pushPacked(this.#high, this.#low, packed)
    } else {
      this.#pairs.pushValue(this.#high, this.#low, this.#source, this.#start, this.#end)
    }
  }

  /** Writes the record of the key. Returns whether the key is kept. */
  #put(key: Uint8Array, hasRecord: boolean): boolean {
    const isDeleted = (this.#flags & DELETED) !== 0
    if (isDeleted && isAtMost(this.#high, this.#low, this.#oldestHigh, this.#oldestLow)) {
      if (hasRecord) this.#store.latest.removeSync(key)
      if (this.#longKey) dropLarge(this.#store, this.#longKey)
      return false
    }
    if (isDeleted) {
      const version = (BigInt(this.#high) << 32n) | BigInt(this.#low)
      this.#output.garbage.addDeletion(version, keyToStoredKey(key))
    }
    this.#putFences()
    if (!isDeleted && this.#end - this.#start > MAX_INLINE_VALUE_LENGTH) this.#large = this.#putLarge()
    if (!hasRecord && isLongKey(key)) this.#longKey = this.#output.putLarge(key)
    this.#putRecord(key)
    return true
  }

  #putFences(): void {
    const pairs = this.#pairs
    const fences = this.#fences
    // Values are left out only if no version sees them, and then all fences have ended.
    const isSuperseded = pairs.count > 0
    const endHigh = isSuperseded ? pairs.high[0]! : this.#high
    const endLow = isSuperseded ? pairs.low[0]! : this.#low
    fences.dropEnded(this.#oldestHigh, this.#oldestLow, endHigh, endLow)
    this.#output.appendChunks(pairs, fences)
    fences.fold(this.#output.appendNode)
  }

  #putRecord(key: Uint8Array): void {
    const large = this.#large
    const longKey = this.#longKey
    const fences = this.#fences
    const builder = this.#builder
      .begin()
      .u8((this.#flags & DELETED) | (large ? LARGE : 0) | (longKey ? LONG_KEY : 0))
      .u8(fences.count)
      .u32(this.#high)
      .u32(this.#low)
      .part(fences.bytes, 0, FENCE_LENGTH * fences.count)
    if (longKey) builder.u48(longKey.id).u32(longKey.length)
    if (large) builder.u48(large.id).u32(large.length)
    else builder.part(this.#source, this.#start, this.#end)
    this.#store.latest.putSync(key, builder.seal(keySeed(key)))
  }

  #putLarge(): LargeBytes {
    return this.#output.putLarge(this.#source.subarray(this.#start, this.#end))
  }

  /** Number of bytes of payload of the value. */
  #valueBytes(): number {
    if (this.#large) return this.#large.length
    return this.#flags & DELETED ? 0 : this.#end - this.#start
  }
}
