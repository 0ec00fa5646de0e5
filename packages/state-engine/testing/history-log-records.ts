import assert from 'node:assert/strict'
import { RecordBuilder } from '../src/bytes/record.ts'
import { GenerationWriter } from '../src/compaction/generation-writer.ts'
import type { MergedFences } from '../src/compaction/merged-fences.ts'
import { PairList } from '../src/compaction/pair-list.ts'
import { type LmdbStore, openLmdbStore } from '../src/lmdb/lmdb-store.ts'
import { SharedRecord } from '../src/lmdb/shared-record.ts'
import { runTransaction } from '../src/lmdb/write-transaction.ts'
import type { Fence } from '../src/records/fences.ts'
import { historySeed, isPacked, type Pair } from '../src/records/history-log-record.ts'
import { type LedgerRecord, NOTHING_MERGED } from '../src/records/ledger-record.ts'

const BLOCK = { height: 0n, epoch: 0n, timestampUsec: 0n }
const EMPTY: LedgerRecord = {
  ledger: { chainId: 1n, latestVersion: 0n, latestBlock: BLOCK, oldestVersion: 0n, oldestBlock: BLOCK },
  base: { version: 0n, complete: true },
  walFile: 1,
  nextCommit: 1,
  ...NOTHING_MERGED,
}

/**
 * Calls `work` in a transaction with a store whose history log is empty, and a writer that appends to it from a number
 * on.
 */
export function withHistoryLog(
  { path, compressHistory = false }: { readonly path: string; readonly compressHistory?: boolean },
  nextHistoryNumber: number,
  work: (store: LmdbStore, output: GenerationWriter) => void,
): void {
  const store = openLmdbStore({ path, readOnly: false, durability: 'none', compressHistory })
  try {
    runTransaction(store.root, 'none', () => {
      store.historyLog.clearSync()
      work(store, new GenerationWriter(store, new RecordBuilder(), { ...EMPTY, nextHistoryNumber }, undefined))
    })
  } finally {
    void store.root.close()
  }
}

export function pairList(pairs: readonly Pair[]): PairList {
  const list = new PairList()
  for (const { version, value } of pairs) {
    const [high, low] = [Number(version >> 32n), Number(version & 0xffff_ffffn)]
    if (value === null) list.pushDeletion(high, low)
    else if (value instanceof Uint8Array) list.pushValue(high, low, value, 0, value.length)
    else if (isPacked(value)) list.pushPacked(high, low, value)
    else list.pushLarge(high, low, value)
  }
  return list
}

export function loadRecord(store: LmdbStore, number: number): SharedRecord {
  const record = new SharedRecord()
  assert.ok(record.load(store.historyLog, number, {}))
  record.verify(historySeed(number))
  return record
}

export function fencesOf(list: MergedFences): Fence[] {
  const view = new DataView(list.bytes.buffer, list.bytes.byteOffset)
  return Array.from({ length: list.count }, (_, place) => ({
    firstVersion: view.getBigUint64(15 * place),
    level: view.getUint8(15 * place + 8),
    number: view.getUint16(15 * place + 9) * 2 ** 32 + view.getUint32(15 * place + 11),
  }))
}
