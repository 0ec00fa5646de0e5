import { join } from 'node:path'
import { bytesToHex } from '@ledger-state/core'
import { isSystemError } from '@ledger-state/core/files'
import { branchOf, type StateReader } from '@ledger-state/engine'
import {
  hasTransactions,
  hasWholeTransactions,
  type Ledger,
  type LedgerState,
  StoredEvents,
  transactionFactsAt,
} from '@ledger-state/ledger'
import { typeTagToText } from '@ledger-state/type-tag'
import { exportFailed } from '../errors.js'
import { balanceRows } from './balance-rows.js'
import type { PackedWrites } from './packed-writes.js'
import { rangeFilePath } from './range-file-name.js'
import { TableRows } from './table-rows.js'
import type { RowSource, TableName } from './tables.js'
import { WriteReader } from './write-reader.js'
import { WriteRows } from './write-rows.js'
import { type TableFile, writeTableFile } from './write-table-file.js'
import { WrittenKeys } from './written-keys.js'

/** Work of writing the files of a range. */
export interface RangeJob {
  readonly writes: PackedWrites
  /** Whether the writes are a part of the state at the first version, before which nothing was. */
  readonly isState: boolean
  /**
   * Whether this is the first range of the export. It has a file for every table, so that queries find its columns, and
   * the transaction of the state's version.
   */
  readonly isFirst: boolean
  readonly folder: string
  readonly fileName: string
  readonly tables: readonly TableName[]
}

export interface RangeFiles {
  readonly files: Readonly<Partial<Record<TableName, TableFile & { readonly path: string }>>>
  /** Number of the newest truncation of the ledger after all reads. */
  readonly branch: number
}

/** Writes the files of a range. Same writes give same files. @throws `export_failed` */
export async function runRangeJob(engine: StateReader, ledger: Ledger, job: RangeJob): Promise<RangeFiles> {
  const { folder, fileName, tables, isFirst } = job
  const files: Partial<Record<TableName, TableFile & { readonly path: string }>> = {}
  try {
    for (const [name, rowsOf] of Object.entries(rowsOfTables(ledger, job)) as [TableName, () => RowSource][]) {
      const rows = tables.includes(name) ? rowsOf() : undefined
      if (!rows || (rows.count === 0 && !isFirst)) continue
      const path = rangeFilePath(name, fileName)
      files[name] = { path, ...(await writeTableFile(join(folder, path), rows)) }
    }
  } catch (error) {
    // A thread could not send the fields of such an error.
    if (isSystemError(error)) throw exportFailed.cannotExport(folder, error)
    throw error
  }
  return { files, branch: branchOf(engine.ledger!) }
}

/** The rows of each table, which are made when its turn comes. */
function rowsOfTables(
  ledger: Ledger,
  { writes: packed, isState, isFirst }: RangeJob,
): Record<TableName, () => RowSource> {
  const writes = new WriteReader(packed)
  const keys = new WrittenKeys(writes)
  const { first, counts } = packed
  const hasNothingBefore = isState || first === 0n
  const kept = (add: (rows: TableRows, state: LedgerState, time: bigint) => void, name: TableName) => () => {
    const rows = new TableRows(name)
    if ((isState && !isFirst) || !keepsTransactions(ledger.at(first + BigInt(counts.length - 1)))) return rows
    for (let at = 0; at < counts.length; at++) add(rows, ledger.at(first + BigInt(at)), packed.times[at]!)
    return rows
  }
  return {
    writes: () => new WriteRows(ledger, writes, keys),
    blocks: () => blockRows(packed),
    balances: () => {
      const before = hasNothingBefore ? undefined : ledger.at(first - 1n).storedView
      return balanceRows(writes, keys, (key) => before?.get(key))
    },
    transactions: kept(addTransaction, 'transactions'),
    events: kept(addEvents, 'events'),
  }
}

function blockRows({ blocks }: PackedWrites): TableRows {
  const rows = new TableRows('blocks')
  const all = rows.groupOf('', () => [])
  for (const one of blocks) {
    rows.add(all, one.height, one.epoch, one.firstVersion, one.lastVersion, one.timestampUsec)
  }
  return rows
}

function keepsTransactions(state: LedgerState): boolean {
  return hasTransactions(state) || hasWholeTransactions(state)
}

function addTransaction(rows: TableRows, state: LedgerState, time: bigint): void {
  const found = transactionFactsAt(state, state.version)
  if (!found) return
  const all = rows.groupOf('', () => [])
  const { hash, kind, isSuccess, sender, entryFunction } = found
  const from = sender && bytesToHex(sender)
  rows.add(all, state.version, time, hash, `${kind}_transaction`, isSuccess, from, entryFunction)
}

function addEvents(rows: TableRows, state: LedgerState, time: bigint): void {
  const stored = state.transactions.storedAt(state.version)
  if (!stored) return
  for (const one of new StoredEvents(state, state.version, stored).events()) {
    if (!one) continue
    const type = typeTagToText(one.event.type)
    const group = rows.groupOf(type, () => [type])
    rows.add(group, state.version, time, BigInt(one.index), one.dataToJson())
  }
}
