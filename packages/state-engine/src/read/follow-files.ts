import type { LedgerRecord } from '../databases/ledger-record.js'
import type { AtFailurePoint } from '../failpoints/failure-points.js'
import type { LmdbStore } from '../lmdb/lmdb-store.js'
import { MemoryTable } from '../memory-table/memory-table.js'
import { SegmentFile } from '../memory-table/segment-file.js'
import type { MergedState } from './read-snapshot.js'

/** The table of a reader, which follows the write-ahead files of a writer in another process, or in this one. */
export class FileFollower {
  readonly table = new MemoryTable()
  readonly #store: LmdbStore
  readonly #atFailurePoint: AtFailurePoint
  #files: SegmentFile[] = []

  constructor(store: LmdbStore, atFailurePoint: AtFailurePoint) {
    this.#store = store
    this.#atFailurePoint = atFailurePoint
  }

  /**
   * Takes what was appended to the files that are not merged, according to the ledger record, which was read before. Returns
   * false if one of them was removed meanwhile: then there is a newer ledger record.
   * @throws `store_corrupt`
   */
  follow({ record, isReverting }: MergedState): boolean {
    this.#dropBelow(record.walFile)
    // LMDB may show an older state than before: lmdb/last-transaction.ts.
    if (this.#files[0] && this.#files[0].segment.fileNumber > record.walFile) this.close()
    if (this.#files.length === 0 && !this.#open(record, record.walFile)) return false
    for (;;) {
      const last = this.#files.at(-1)!
      last.read()
      if (isReverting) last.expectNoCommits()
      if (!last.isSealed) return true
      if (!this.#open(record, last.segment.fileNumber + 1, last)) return false
    }
  }

  close(): void {
    this.#dropBelow(Number.POSITIVE_INFINITY)
  }

  #open({ nextCommit, ledger, logEnd }: LedgerRecord, fileNumber: number, before?: SegmentFile): boolean {
    const { path: folder, storeId } = this.#store
    const options = {
      folder,
      storeId,
      fileNumber,
      firstCommit: before?.nextCommit ?? nextCommit,
      blockBefore: before?.segment.head?.latestBlock ?? ledger.latestBlock,
      before: before?.end,
      logEnd,
    }
    try {
      const file = new SegmentFile(options, this.table.hash)
      this.#files.push(file)
      this.table.push(file.segment)
      this.#atFailurePoint('read: file opened')
      return true
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === 'ENOENT') return false
      throw error
    }
  }

  #dropBelow(fileNumber: number): void {
    while (this.#files.length > 0 && this.#files[0]!.segment.fileNumber < fileNumber) this.#files.shift()!.close()
    this.table.dropBelow(fileNumber)
  }
}
