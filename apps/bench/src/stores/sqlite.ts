import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { latestQuestion } from './seek-key.ts'
import { folderBytes, type LookupResult, type Store } from './store.ts'

/** SQLite with a table clustered by (key, version); reads take the newest row at or below the version. */
export function openSqlite(path: string): Store {
  const database = new DatabaseSync(join(path, 'state.sqlite'))
  database.exec(`PRAGMA journal_mode = WAL; PRAGMA synchronous = OFF; PRAGMA cache_size = -262144;
    PRAGMA mmap_size = 17179869184;
    CREATE TABLE IF NOT EXISTS writes (key BLOB, version INTEGER, value BLOB, PRIMARY KEY (key, version)) WITHOUT ROWID`)
  const insert = database.prepare('INSERT INTO writes VALUES (?, ?, ?)')
  const select = database.prepare(
    'SELECT value FROM writes WHERE key = ? AND version <= ? ORDER BY version DESC LIMIT 1',
  )
  function read(key: Uint8Array, version: bigint): LookupResult {
    const row = select.get(key, version === latestQuestion ? 2n ** 63n - 1n : version)
    return (row?.value as Uint8Array | null | undefined) ?? undefined
  }
  return {
    name: 'SQLite',
    ingest(versions) {
      database.exec('BEGIN')
      for (const { version, writes } of versions) for (const [key, value] of writes) insert.run(key, version, value)
      database.exec('COMMIT')
    },
    usedBytes() {
      database.exec('PRAGMA wal_checkpoint(TRUNCATE)')
      return folderBytes(path)
    },
    latest(questions) {
      let answer: LookupResult
      for (const { key } of questions) answer = read(key, latestQuestion)
      return answer
    },
    atVersion(questions) {
      let answer: LookupResult
      for (const { key, version } of questions) answer = read(key, version)
      return answer
    },
    close: () => database.close(),
  }
}
