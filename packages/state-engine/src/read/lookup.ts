import { Buffer } from 'node:buffer'
import { storedValueEnd } from '@ledger-state/engine/authoring'
import type { LmdbStore } from '../lmdb/lmdb-store.js'
import { fingerprintOf } from '../memtable/fingerprint.js'
import type { Memtable } from '../memtable/memtable.js'
import { NONE, type Segment } from '../memtable/segment.js'
import { SegmentMatch } from '../segments/block-search.js'
import { copyPart } from '../segments/byte-output.js'
import { ABSENT, type Found, PRESENT, REMOVED } from '../segments/found.js'
import { createKeyProbe, type KeyProbe } from '../segments/key-filter.js'
import type { BlocksAhead } from './blocks-ahead.js'
import type { ReadSnapshot } from './read-snapshot.js'
import { type SegmentSlice, versionInSlice } from './segment-slices.js'

/**
 * Looks up the newest write at or below a version: first in the memtable, then in the segment files, the newest first.
 * It allocates nothing, and keeps its result until the next look-up.
 */
export class Lookup {
  #bytes: Uint8Array = new Uint8Array(0)
  #start = 0
  #end = 0
  #writtenHigh = 0
  #writtenLow = 0
  readonly #probe: KeyProbe
  readonly #match = new SegmentMatch()
  /** Whether the value is in a file that is closed once no state of the store has it. */
  #isInFile = false
  #copied = Buffer.alloc(0)

  constructor(store: LmdbStore) {
    this.#probe = createKeyProbe(store)
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

  /** Copy of the value that was found. */
  copy(): Uint8Array {
    return copyPart(this.#bytes, this.#start, storedValueEnd(this.#bytes, this.#start, this.#end))
  }

  /** Looks up a key at a version, given as halves. @throws `store_corrupt` */
  find(key: Uint8Array, high: number, low: number, { memtable, slices }: ReadSnapshot): Found {
    this.#isInFile = false
    if (memtable.segments.length > 0) {
      const found = this.#findInMemtable(key, high, low, memtable)
      if (found !== ABSENT) return found
    }
    return this.#findInSegments(key, high, low, slices)
  }

  /** Same as `find`, for writes that are not in segment files yet. */
  findUnmerged(key: Uint8Array, high: number, low: number, { memtable }: ReadSnapshot): Found {
    this.#isInFile = false
    return memtable.segments.length > 0 ? this.#findInMemtable(key, high, low, memtable) : ABSENT
  }

  /**
   * Same as `find`, except that it touches only blocks that are in memory or were read ahead. If it needs another one,
   * it adds that to `ahead`, and returns undefined.
   */
  findAtHand(
    key: Uint8Array,
    high: number,
    low: number,
    { memtable, slices }: ReadSnapshot,
    ahead: BlocksAhead,
  ): Found | undefined {
    this.#isInFile = false
    const inMemtable = this.#findInMemtable(key, high, low, memtable)
    if (inMemtable !== ABSENT) return inMemtable
    const probe = this.#probe.take(key)
    for (const slice of slices) {
      const { reader } = slice
      const version = versionInSlice(slice, high, low)
      if (version < 0 || !reader.mayHave(probe)) continue
      const block = reader.index.blockOf(key, version)
      if (!ahead.isAtHand(reader, block)) {
        ahead.add(reader, block)
        return undefined
      }
      const found = reader.findIn(block, probe, version, this.#match)
      if (found !== ABSENT) return this.#takeMatch(slice, found)
    }
    return ABSENT
  }

  #findInSegments(key: Uint8Array, high: number, low: number, slices: readonly SegmentSlice[]): Found {
    const probe = this.#probe.take(key)
    for (let at = 0; at < slices.length; at++) {
      const slice = slices[at]!
      const found = slice.reader.find(probe, versionInSlice(slice, high, low), this.#match)
      if (found !== ABSENT) return this.#takeMatch(slice, found)
    }
    return ABSENT
  }

  #takeMatch({ firstHigh, firstLow }: SegmentSlice, found: Found): Found {
    const match = this.#match
    const writtenLow = firstLow + match.version
    this.#writtenHigh = firstHigh + Math.floor(writtenLow / 2 ** 32)
    this.#writtenLow = writtenLow >>> 0
    this.#isInFile = true
    this.#bytes = match.bytes
    this.#start = match.start
    this.#end = match.end
    return found
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
    this.#bytes = segment.bytes
    this.#start = segment.valueStart(entry)
    this.#end = segment.valueEnd(entry)
    return PRESENT
  }
}
