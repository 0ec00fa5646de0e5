import type { BlockInfo } from '@ledger-state/core'
import type { Truncation } from '@ledger-state/engine'
import { addTruncation } from '@ledger-state/engine/authoring'
import type { RecordBuilder } from '../bytes/record.js'
import { LEDGER_KEY, type LmdbStore } from '../lmdb/lmdb-store.js'
import { decodeLedgerRecord, encodeLedgerRecord } from '../records/ledger-record.js'
import { putMark } from '../records/mark.js'
import { getTruncations, putReverting, putTruncations } from '../records/truncations.js'

export interface MergedTruncation {
  readonly truncation: Truncation
  readonly latestBlock: BlockInfo
  readonly mark: Uint8Array | undefined
  /** Number of the file to which commits go from then on. */
  readonly walFile: number
  readonly nextCommit: number
}

/**
 * Cuts off merged versions, within the transaction of the caller. From then on no read sees them, nor the commits of
 * the previous WAL files. `MergedRevert` removes their records.
 */
export function truncateMerged(store: LmdbStore, builder: RecordBuilder, content: MergedTruncation): void {
  const { truncation, latestBlock, mark, walFile, nextCommit } = content
  const record = decodeLedgerRecord(store.meta.getBinary(LEDGER_KEY)!)
  putReverting(store, builder, record.ledger.latestVersion)
  putTruncations(store, builder, addTruncation(getTruncations(store), truncation))
  putMark(store, builder, mark)
  const ledger = { ...record.ledger, latestVersion: truncation.version, latestBlock }
  store.meta.putSync(LEDGER_KEY, encodeLedgerRecord(builder, { ...record, ledger, walFile, nextCommit }))
}
