import { Buffer } from 'node:buffer'
import type { LmdbStore } from '../lmdb/lmdb-store.js'
import type { ReadOptions } from '../lmdb/table.js'
import { expectAbsent } from '../lmdb/verify-absence.js'
import type { LedgerRecord } from '../records/ledger-record.js'

/** Most keys, and longest key in bytes, that are remembered: about 1 MiB. */
const MOST_KEYS = 4_096
const LONGEST_KEY = 256

/**
 * Remembers which keys were found to be absent from the merged state, because that costs 20 µs, many times a look-up. It holds
 * until something is merged, which changes the ledger record.
 */
export class VerifiedAbsences {
  readonly #store: LmdbStore
  #merged: LedgerRecord | undefined
  readonly #keys = new Set<string>()

  constructor(store: LmdbStore) {
    this.#store = store
  }

  /** Checks that a key without a record is absent. @throws `store_corrupt` */
  expectAbsent(key: Uint8Array, merged: LedgerRecord | undefined, options: ReadOptions): void {
    if (merged !== this.#merged || this.#keys.size >= MOST_KEYS) {
      this.#merged = merged
      this.#keys.clear()
    }
    const name =
      key.length <= LONGEST_KEY ? Buffer.from(key.buffer, key.byteOffset, key.length).toString('latin1') : undefined
    if (name !== undefined && this.#keys.has(name)) return
    expectAbsent(this.#store, key, options)
    if (name !== undefined) this.#keys.add(name)
  }
}
