import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { ByteReader, ByteWriter } from '@ledger-state/core'
import type { LedgerVersion } from '@ledger-state/feed'
import { readBcsList, readEvent } from '@ledger-state/proof/transactions'
import { readSent } from '@ledger-state/records'
import { STATE_KEY_ADDRESS_AT, writeTypeTag } from '@ledger-state/type-tag'

/** Transactions and events as rows of SQLite, with an index for each way in which pages find them. */
export interface TransactionRows {
  add(versions: readonly LedgerVersion[]): void
  /** All of these return the rows of a page of 25. */
  byVersion(first: bigint): readonly unknown[]
  byAccount(sender: Uint8Array, start: bigint): readonly unknown[]
  byEventKey(address: Uint8Array, creationNumber: bigint, start: bigint): readonly unknown[]
  byEventType(type: Uint8Array, from: bigint): readonly unknown[]
  close(): void
}

const PAGE = 25

/**
 * Opens the rows of a folder. The tables have the contents of a page: the transaction, info, events and write set of a
 * version in one row, and each event in another.
 */
export function openTransactionRows(path: string): TransactionRows {
  const database = new DatabaseSync(join(path, 'transactions.sqlite'))
  database.exec(`PRAGMA journal_mode = WAL; PRAGMA synchronous = OFF; PRAGMA cache_size = -262144;
    PRAGMA mmap_size = 17179869184;
    CREATE TABLE IF NOT EXISTS transactions (version INTEGER PRIMARY KEY, sender BLOB, number INTEGER, body BLOB);
    CREATE INDEX IF NOT EXISTS sent ON transactions (sender, number);
    CREATE TABLE IF NOT EXISTS affected (address BLOB, version INTEGER, PRIMARY KEY (address, version)) WITHOUT ROWID;
    CREATE TABLE IF NOT EXISTS types (id INTEGER PRIMARY KEY, type BLOB UNIQUE);
    CREATE TABLE IF NOT EXISTS events (
      version INTEGER, place INTEGER, type INTEGER, address BLOB, creation INTEGER, number INTEGER, body BLOB,
      PRIMARY KEY (version, place)) WITHOUT ROWID;
    CREATE INDEX IF NOT EXISTS typed ON events (type, version, place);
    CREATE INDEX IF NOT EXISTS streams ON events (address, creation, number) WHERE address IS NOT NULL`)
  const insert = database.prepare('INSERT INTO transactions VALUES (?, ?, ?, ?)')
  const insertAffected = database.prepare('INSERT OR IGNORE INTO affected VALUES (?, ?)')
  const insertType = database.prepare('INSERT OR IGNORE INTO types (type) VALUES (?)')
  const selectType = database.prepare('SELECT id FROM types WHERE type = ?')
  const insertEvent = database.prepare('INSERT INTO events VALUES (?, ?, ?, ?, ?, ?, ?)')
  const selectVersions = database.prepare('SELECT * FROM transactions WHERE version >= ? ORDER BY version LIMIT ?')
  const selectSent = database.prepare(
    'SELECT * FROM transactions WHERE sender = ? AND number >= ? ORDER BY number LIMIT ?',
  )
  const selectStream = database.prepare(
    'SELECT * FROM events WHERE address = ? AND creation = ? AND number >= ? ORDER BY number LIMIT ?',
  )
  const selectTyped = database.prepare(
    'SELECT * FROM events WHERE type = ? AND version >= ? ORDER BY version, place LIMIT ?',
  )
  const typeIds = new Map<string, number | bigint>()

  function typeId(type: Uint8Array): number | bigint {
    const name = Buffer.from(type).toString('latin1')
    const known = typeIds.get(name)
    if (known !== undefined) return known
    insertType.run(type)
    const id = selectType.get(type)!.id as number
    typeIds.set(name, id)
    return id
  }

  function addOne({ version, writes, readWhole }: LedgerVersion): void {
    const { transaction, info, events, writeSet } = readWhole!()
    const sent = readSent(transaction)
    const body = Buffer.concat([transaction, info, events, writeSet])
    insert.run(version, sent?.sender ?? null, sent?.protection.number ?? null, body)
    for (const [key] of writes)
      insertAffected.run(key.subarray(STATE_KEY_ADDRESS_AT, STATE_KEY_ADDRESS_AT + 32), version)
    let place = 0
    for (const { key, type, data } of readBcsList(new ByteReader(events), readEvent)) {
      const writer = new ByteWriter()
      writeTypeTag(writer, type)
      const { address = null, creationNumber = null, sequenceNumber = null } = key ?? {}
      insertEvent.run(version, place++, typeId(writer.toBytes()), address, creationNumber, sequenceNumber, data)
    }
  }

  return {
    add(versions) {
      database.exec('BEGIN')
      for (const version of versions) addOne(version)
      database.exec('COMMIT')
    },
    byVersion: (first) => selectVersions.all(first, PAGE),
    byAccount: (sender, start) => selectSent.all(sender, start, PAGE),
    byEventKey: (address, creationNumber, start) => selectStream.all(address, creationNumber, start, PAGE),
    byEventType: (type, from) => selectTyped.all(typeId(type), from, PAGE),
    close() {
      database.exec('PRAGMA wal_checkpoint(TRUNCATE)')
      database.close()
    },
  }
}
