import type { Buffer } from 'node:buffer'
import type { LmdbStore } from '../lmdb/lmdb-store.js'

/** Number of records that are taken out and put back at a time: about a millisecond of work. */
const RANGE_RECORDS = 256
/** Number of merged keys for each record that is packed if packing saves much; it is higher if packing saves little. */
const FEWEST_KEYS_PER_RECORD = 4
const MOST_KEYS_PER_RECORD = 64
/**
 * Ratio of pages saved to pages that the records fill, from which on packing saves much. For 10^7 keys written in
 * random order the ratio is 0.1, under a steady load it is 1.
 */
const MUCH_SAVED = 0.35
const LITTLE_SAVED = 0.2
/** Bytes of LMDB's header of a node, and of its offset in the page. */
const NODE_OVERHEAD = 10

interface StoredRecord {
  readonly key: Uint8Array
  readonly value: Buffer
}

/**
 * Packs the pages of `latest` again, some records for each slice of a merge. If a record grows, LMDB splits its page
 * into two half-full ones, and it joins pages only if one is three quarters empty: under a steady load they became 40 %
 * full. The repacker takes out adjacent records and puts them back in order, so that LMDB fills each page before it
 * takes the next.
 */
export class LatestRepacker {
  readonly #store: LmdbStore
  /** First record of the next range; undefined at the beginning of the database. */
  #start: Uint8Array | undefined
  #keysPerRecord = FEWEST_KEYS_PER_RECORD
  /** Number of merged keys for which nothing was packed yet. */
  #mergedKeys = 0

  constructor(store: LmdbStore) {
    this.#store = store
  }

  /**
   * Packs the records that are due after a number of merged keys, in the write transaction of the caller, which may be
   * run again.
   */
  pack(mergedKeys: number): void {
    this.#mergedKeys += mergedKeys
    while (this.#mergedKeys >= RANGE_RECORDS * this.#keysPerRecord) {
      this.#mergedKeys -= RANGE_RECORDS * this.#keysPerRecord
      this.#packRange()
    }
  }

  #packRange(): void {
    const { latestByStoredKey: latest } = this.#store
    const range = { start: this.#start, end: undefined, limit: RANGE_RECORDS }
    const records: StoredRecord[] = [...latest.getRange(range)]
    this.#start = records.length < RANGE_RECORDS ? undefined : records.at(-1)!.key
    const { treeLeafPageCount: before, pageSize } = latest.getStats()
    for (const { key } of records) latest.removeSync(key)
    for (const { key, value } of records) latest.putSync(key, value)
    const saved = before - latest.getStats().treeLeafPageCount
    const length = records.reduce((sum, { key, value }) => sum + key.length + value.length + NODE_OVERHEAD, 0)
    this.#adaptPace((saved * pageSize) / length)
  }

  #adaptPace(savedShare: number): void {
    if (savedShare > MUCH_SAVED) this.#keysPerRecord = Math.max(FEWEST_KEYS_PER_RECORD, this.#keysPerRecord / 2)
    if (savedShare < LITTLE_SAVED) this.#keysPerRecord = Math.min(MOST_KEYS_PER_RECORD, 2 * this.#keysPerRecord)
  }
}
