import type { RecordBuilder } from '../bytes/record.js'
import { LEDGER_KEY, type LmdbStore } from '../lmdb/lmdb-store.js'
import { decodeLedgerRecord, encodeLedgerRecord } from '../records/ledger-record.js'
import type { LogFilePosition } from '../records/log-position.js'

export function isSameEnd(a: LogFilePosition, b: LogFilePosition): boolean {
  return a.fileNumber === b.fileNumber && a.length === b.length && a.checksum === b.checksum
}

/** Records in the ledger record where the WAL files end, within the transaction of the caller. */
export function putLogEnd(store: LmdbStore, builder: RecordBuilder, logEnd: LogFilePosition): void {
  const record = decodeLedgerRecord(store.meta.getBinary(LEDGER_KEY)!)
  store.meta.putSync(LEDGER_KEY, encodeLedgerRecord(builder, { ...record, logEnd }))
}
