import { Buffer } from 'node:buffer'
import { type NumberedKey, numberedKeySeed } from '../bytes/numbered-key.js'
import { CHECKSUM_LENGTH } from '../bytes/record.js'
import { keySeed } from '../bytes/stored-key.js'
import { LARGE_REFERENCE_LENGTH, readLarge } from '../databases/large-values.js'
import { DELETED, INDEXED, LARGE, LONG_KEY, largeReference, latestTail, OLDER_AT } from '../databases/latest-record.js'
import { ENTRY_HEADER_LENGTH } from '../databases/superseded-log.js'
import { CHUNK_HEADER_LENGTH, DIRECTORY, DIRECTORY_HEADER_LENGTH } from '../databases/version-index.js'
import type { LmdbStore, Records } from '../lmdb/lmdb-store.js'
import { SharedRecord } from '../lmdb/shared-record.js'
import type { ReadOptions } from '../lmdb/table.js'
import { storeCorrupt } from '../port/errors.js'

/** What a key held at a version. */
export const ABSENT = 0
export const PRESENT = 1
export const REMOVED = 2
export type Found = typeof ABSENT | typeof PRESENT | typeof REMOVED

/**
 * Looks up the newest write at or below a version. Uses gets only: one for the newest write, two for one superseded
 * lately, four for a key with a deep history. A cursor would cost as much to set up as all of them. Allocates nothing;
 * keeps what it found until the next look-up.
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
  readonly #key: NumberedKey = { high: 0, low: 0, partHigh: 0, partLow: 0 }
  #keyHigh = 0
  #keyLow = 0

  constructor(store: LmdbStore) {
    this.#store = store
  }

  /** The version that wrote what was found. */
  get writtenVersion(): bigint {
    return (BigInt(this.#writtenHigh) << 32n) | BigInt(this.#writtenLow)
  }

  /** The value found, in place: valid until the next read of any engine in this thread. */
  peek(): Uint8Array {
    return new Uint8Array(this.#bytes.buffer, this.#bytes.byteOffset + this.#start, this.#end - this.#start)
  }

  /** A copy of the value found, in Node's pool of memory: a typed array of its own costs ten times as much. */
  copy(): Uint8Array {
    // Pieces were joined for this look-up alone.
    if (this.#isOwn) return this.#bytes
    const copy = Buffer.allocUnsafe(this.#end - this.#start)
    copy.set(this.peek())
    return copy
  }

  /** Takes the version in halves. @throws `store_corrupt` */
  find(key: Uint8Array, high: number, low: number, options: ReadOptions): Found {
    const record = this.#record
    if (!record.load(this.#store.latest, key, options)) return ABSENT
    if (this.#store.verifyReads) record.verify(keySeed(key))
    const flags = record.bytes[0]!
    if (flags & LONG_KEY && !this.#isKey(key, options)) return ABSENT
    const { view } = record
    const latestHigh = view.getUint32(8)
    const latestLow = view.getUint32(12)
    if (isAtMost(latestHigh, latestLow, high, low)) {
      this.#writtenHigh = latestHigh
      this.#writtenLow = latestLow
      const tail = latestTail(record) + (flags & LONG_KEY ? LARGE_REFERENCE_LENGTH : 0)
      return this.#take(flags, tail, record.length - CHECKSUM_LENGTH, options)
    }
    this.#keyHigh = view.getUint16(2)
    this.#keyLow = view.getUint32(4)
    const listed = record.bytes[1]!
    const place = countAtMost(view, OLDER_AT, listed, high, low)
    // The log has the value under the next version of the key, which superseded it.
    let nextHigh = latestHigh
    let nextLow = latestLow
    if (place < listed) {
      nextHigh = view.getUint32(OLDER_AT + 8 * place)
      nextLow = view.getUint32(OLDER_AT + 8 * place + 4)
    }
    if (place > 0) {
      this.#writtenHigh = view.getUint32(OLDER_AT + 8 * place - 8)
      this.#writtenLow = view.getUint32(OLDER_AT + 8 * place - 4)
      return this.#takeLogged(nextHigh, nextLow, options)
    }
    return flags & INDEXED ? this.#findIndexed(high, low, nextHigh, nextLow, options) : ABSENT
  }

  #findIndexed(high: number, low: number, nextHigh: number, nextLow: number, options: ReadOptions): Found {
    const record = this.#record
    if (!this.#load(this.#store.index, this.#keyHigh, this.#keyLow, 0, DIRECTORY, options)) return ABSENT
    const chunks = (record.length - DIRECTORY_HEADER_LENGTH - CHECKSUM_LENGTH) >> 3
    const chunk = countAtMost(record.view, DIRECTORY_HEADER_LENGTH, chunks, high, low)
    if (chunk === 0) return ABSENT
    if (chunk < chunks) {
      nextHigh = record.view.getUint32(DIRECTORY_HEADER_LENGTH + 8 * chunk)
      nextLow = record.view.getUint32(DIRECTORY_HEADER_LENGTH + 8 * chunk + 4)
    }
    if (!this.#load(this.#store.index, this.#keyHigh, this.#keyLow, 0, record.view.getUint32(0) + chunk - 1, options)) {
      throw storeCorrupt('a chunk of the version index is missing')
    }
    const { view } = record
    const versions = (record.length - CHUNK_HEADER_LENGTH - CHECKSUM_LENGTH) >> 3
    const place = countAtMost(view, CHUNK_HEADER_LENGTH, versions, high, low)
    const at = CHUNK_HEADER_LENGTH + 8 * place
    if (place < versions) {
      nextHigh = view.getUint32(at)
      nextLow = view.getUint32(at + 4)
    }
    this.#writtenHigh = view.getUint32(at - 8)
    this.#writtenLow = view.getUint32(at - 4)
    return this.#takeLogged(nextHigh, nextLow, options)
  }

  /** What a version, in halves, superseded of a key. @throws `store_corrupt` */
  findSuperseded(keyId: number, high: number, low: number, options: ReadOptions): Found {
    this.#keyHigh = Math.floor(keyId / 2 ** 32)
    this.#keyLow = keyId >>> 0
    return this.#takeLogged(high, low, options)
  }

  #takeLogged(high: number, low: number, options: ReadOptions): Found {
    const record = this.#record
    if (!this.#load(this.#store.log, high, low, this.#keyHigh, this.#keyLow, options)) {
      throw storeCorrupt('the log lacks a value that the version index names')
    }
    return this.#take(record.bytes[0]!, ENTRY_HEADER_LENGTH, record.length - CHECKSUM_LENGTH, options)
  }

  #take(flags: number, start: number, end: number, options: ReadOptions): Found {
    if (flags & DELETED) return REMOVED
    this.#isOwn = (flags & LARGE) !== 0
    if (this.#isOwn) {
      this.#bytes = readLarge(this.#store, largeReference(this.#record, start), options)
      this.#start = 0
      this.#end = this.#bytes.length
    } else {
      this.#bytes = this.#record.bytes
      this.#start = start
      this.#end = end
    }
    return PRESENT
  }

  /** Whether the record belongs to this long key. Loads the record again: the stored key overwrote the buffer. */
  #isKey(key: Uint8Array, options: ReadOptions): boolean {
    const reference = largeReference(this.#record, latestTail(this.#record))
    const same = Buffer.compare(readLarge(this.#store, reference, options), key) === 0
    return this.#record.load(this.#store.latest, key, options) && same
  }

  #load(table: Records, high: number, low: number, partHigh: number, partLow: number, options: ReadOptions): boolean {
    this.#key.high = high
    this.#key.low = low
    this.#key.partHigh = partHigh
    this.#key.partLow = partLow
    if (!this.#record.load(table, this.#key, options)) return false
    if (this.#store.verifyReads) this.#record.verify(numberedKeySeed(this.#key))
    return true
  }
}

function isAtMost(high: number, low: number, limitHigh: number, limitLow: number): boolean {
  return high < limitHigh || (high === limitHigh && low <= limitLow)
}

/** How many of `count` ascending versions, from `at` on, are at or below a version. */
function countAtMost(view: DataView, at: number, count: number, high: number, low: number): number {
  let least = 0
  let most = count
  while (least < most) {
    const middle = (least + most) >> 1
    if (isAtMost(view.getUint32(at + 8 * middle), view.getUint32(at + 8 * middle + 4), high, low)) least = middle + 1
    else most = middle
  }
  return least
}
