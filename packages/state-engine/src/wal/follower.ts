import type { AtFailpoint } from '../failpoints/failpoints.js'
import type { LmdbStore } from '../lmdb/lmdb-store.js'
import { Memtable } from '../memtable/memtable.js'
import type { SegmentMemory } from '../memtable/segment-memory.js'
import type { LedgerRecord } from '../records/ledger-record.js'
import { firstFileOptions, WalReader, type WalReaderOptions } from './reader.js'

/** The memtable of a reader. It follows the WAL files of a writer in another process, or in this one. */
export class WalFollower {
  readonly memtable = new Memtable()
  readonly #store: LmdbStore
  readonly #atFailpoint: AtFailpoint
  #files: WalReader[] = []
  /** Memory of the segment that was dropped last. */
  #spare: SegmentMemory | undefined

  constructor(store: LmdbStore, atFailpoint: AtFailpoint) {
    this.#store = store
    this.#atFailpoint = atFailpoint
  }

  /**
   * Reads the records appended to the files that are not merged according to the ledger record, which was read earlier.
   * Returns false if one of them was removed meanwhile; then there is a newer ledger record.
   * @throws `store_corrupt`
   */
  follow(record: LedgerRecord): boolean {
    this.#dropBelow(record.walFile)
    // LMDB may show an older state than before: lmdb/last-transaction.ts.
    if (this.#files[0] && this.#files[0].segment.fileNumber > record.walFile) this.close()
    if (this.#files.length === 0 && !this.#open(firstFileOptions(this.#store, record))) return false
    for (;;) {
      const last = this.#files.at(-1)!
      last.read()
      if (!last.isSealed) return true
      if (!this.#open({ ...last.next, logEnd: record.logEnd })) return false
    }
  }

  close(): void {
    this.#dropBelow(Number.POSITIVE_INFINITY)
    this.#spare = undefined
  }

  #open(options: WalReaderOptions): boolean {
    try {
      const file = new WalReader(options, this.memtable.hash, this.#spare)
      this.#spare = undefined
      this.#files.push(file)
      this.memtable.push(file.segment)
      this.#atFailpoint('read: file opened')
      return true
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === 'ENOENT') return false
      throw error
    }
  }

  #dropBelow(fileNumber: number): void {
    this.memtable.dropBelow(fileNumber)
    while (this.#files.length > 0 && this.#files[0]!.segment.fileNumber < fileNumber) {
      const file = this.#files.shift()!
      file.close()
      this.#spare = file.segment.takeMemory()
    }
  }
}
