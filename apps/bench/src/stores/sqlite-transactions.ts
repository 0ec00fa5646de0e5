import { statSync } from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import {
  ROWS_OF_PAGE,
  type RowsOfVersion,
  rowsOfVersion,
  type TransactionRows,
  TypeNumbers,
} from './transaction-rows.ts'

/** Opens transactions as rows of SQLite. */
export function openSqliteTransactions(path: string): TransactionRows {
  const file = join(path, 'transactions.sqlite')
  const database = new DatabaseSync(file)
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
  const insertAffected = database.prepare('INSERT INTO affected VALUES (?, ?)')
  const insertType = database.prepare('INSERT INTO types VALUES (?, ?)')
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
  const stored = database.prepare('SELECT id, type FROM types').all() as { id: number; type: Uint8Array }[]
  const types = new TypeNumbers(stored, (number, type) => void insertType.run(number, type))

  function addOne({ version, sender, number, body, affected, events }: RowsOfVersion): void {
    insert.run(version, sender, number, body)
    for (const address of affected) insertAffected.run(address, version)
    for (const [place, { type, address, creationNumber, sequenceNumber, data }] of events.entries())
      insertEvent.run(version, place, types.numberOf(type), address, creationNumber, sequenceNumber, data)
  }

  return {
    add(versions) {
      database.exec('BEGIN')
      for (const version of versions) addOne(rowsOfVersion(version))
      database.exec('COMMIT')
    },
    byVersion: (first) => selectVersions.all(first, ROWS_OF_PAGE),
    byAccount: (sender, start) => selectSent.all(sender, start, ROWS_OF_PAGE),
    byEventKey: (address, creationNumber, start) => selectStream.all(address, creationNumber, start, ROWS_OF_PAGE),
    byEventType: (type, from) => selectTyped.all(types.numberOf(type), from, ROWS_OF_PAGE),
    usedBytes() {
      database.exec('PRAGMA wal_checkpoint(TRUNCATE)')
      return statSync(file).size
    },
    close: () => database.close(),
  }
}
