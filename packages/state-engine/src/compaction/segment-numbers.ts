import type { LmdbStore } from '../lmdb/lmdb-store.js'
import { getLedgerRecord } from '../records/ledger-record.js'
import { listSegmentRows } from '../records/segment-rows.js'

/** Gives numbers to the segment files that the writer of a store makes. A number that a row had is not given again. */
export class SegmentNumbers {
  readonly #store: LmdbStore
  #next = 0

  constructor(store: LmdbStore) {
    this.#store = store
  }

  /** Takes as many numbers as are asked for, which follow each other. Returns the first. */
  take(count = 1): number {
    const least = getLedgerRecord(this.#store)?.nextFile ?? 0
    const used = listSegmentRows(this.#store).map(({ file }) => file + 1)
    this.#next = Math.max(this.#next, least, ...used)
    const first = this.#next
    this.#next += count
    return first
  }
}
