import { Buffer } from 'node:buffer'
import type { LmdbStore } from '../lmdb/lmdb-store.js'
import type { ReadOptions } from '../lmdb/table.js'
import { expectAbsent } from '../lmdb/verify-absence.js'
import type { LedgerRecord } from '../records/ledger-record.js'

/** Bytes of keys that are remembered, in two halves. */
const MOST_BYTES = 4 << 20
/** Bytes that a remembered key takes besides its own. */
const BYTES_OF_ENTRY = 64
/** Longest key that is remembered, in bytes. */
const LONGEST_KEY = 256

/**
 * Remembers which keys were found to be absent from the merged state, because that costs 20 µs, many times a look-up. It
 * holds until something is merged, which changes the ledger record. A full half becomes the older one, whose keys move
 * back when they are asked for: keys that are asked for often stay.
 */
export class VerifiedAbsences {
  readonly #store: LmdbStore
  #merged: LedgerRecord | undefined
  #newer = new Set<string>()
  #older = new Set<string>()
  #newerBytes = 0

  constructor(store: LmdbStore) {
    this.#store = store
  }

  /** Checks that a key without a record is absent. @throws `store_corrupt` */
  expectAbsent(key: Uint8Array, merged: LedgerRecord | undefined, options: ReadOptions): void {
    if (merged !== this.#merged) {
      this.#merged = merged
      this.#newer.clear()
      this.#older.clear()
      this.#newerBytes = 0
    }
    if (key.length > LONGEST_KEY) {
      expectAbsent(this.#store, key, options)
      return
    }
    const name = Buffer.from(key.buffer, key.byteOffset, key.length).toString('latin1')
    if (this.#newer.has(name)) return
    if (!this.#older.has(name)) expectAbsent(this.#store, key, options)
    this.#remember(name)
  }

  #remember(name: string): void {
    this.#newer.add(name)
    this.#newerBytes += name.length + BYTES_OF_ENTRY
    if (this.#newerBytes < MOST_BYTES / 2) return
    this.#older = this.#newer
    this.#newer = new Set()
    this.#newerBytes = 0
  }
}
