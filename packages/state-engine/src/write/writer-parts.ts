import type { Block, LedgerSummary } from '@ledger-state/engine'
import type { RecordBuilder } from '../bytes/record.js'
import type { AtFailpoint } from '../failpoints/failpoints.js'
import type { LmdbStore } from '../lmdb/lmdb-store.js'
import type { StoreTransactions } from '../lmdb/store-transactions.js'
import type { ReadOptions } from '../lmdb/table.js'
import type { LedgerRecord } from '../records/ledger-record.js'
import type { WalAppender } from '../wal/appender.js'

/** What a writer needs of the reading half of its engine. */
export interface WriterReads {
  snapshot(): {
    readonly options: ReadOptions
    readonly record: LedgerRecord | undefined
    readonly ledger: LedgerSummary | undefined
  }
  blockAt(version: bigint): Block
  /** Shows the newest commit of the memtable to reads. */
  noticeCommit(): void
  /** Has the next read take the newest state of LMDB. */
  forgetSnapshot(): void
}

/** What the writers of commits, imports, prunes and truncations share. */
export interface WriterParts {
  readonly store: LmdbStore
  readonly builder: RecordBuilder
  readonly reads: WriterReads
  readonly log: WalAppender
  readonly transactions: StoreTransactions
  readonly atFailpoint: AtFailpoint
  /** Runs work after all other work on commits and on their files that was asked for before. */
  inTurn<T>(work: () => Promise<T>): Promise<T>
  /** Called after each change that readers see. */
  readonly onChange: () => void
  /** @throws `store_closed` */
  expectOpen(): void
}
