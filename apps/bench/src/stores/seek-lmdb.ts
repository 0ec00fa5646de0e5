import { join } from 'node:path'
import { openBareLmdb } from './bare-lmdb.ts'
import { usedPagesBytes } from './plain-lmdb.ts'
import { latestQuestion, seekKey, seekKeyBelongsTo, seekValue, seekValueToAnswer } from './seek-key.ts'
import { toShortKey } from './short-key.ts'
import type { LookupResult, Store } from './store.ts'

/** The layout of nodes on RocksDB, on lmdb: key ++ inverted version → value; each read seeks. */
export function openSeekLmdb(path: string): Store {
  const database = openBareLmdb(join(path, 'seek.mdb'))
  function read(key: Uint8Array, version: bigint): LookupResult {
    for (const entry of database.getRange({ start: seekKey(toShortKey(key), version), limit: 1 })) {
      if (!seekKeyBelongsTo(entry.key, toShortKey(key))) return undefined
      return seekValueToAnswer(entry.value)
    }
    return undefined
  }
  return {
    name: 'key ++ version on lmdb',
    ingest(versions) {
      database.transactionSync(() => {
        for (const { version, writes } of versions) {
          for (const [key, value] of writes) {
            database.putSync(seekKey(toShortKey(key), version), seekValue(value))
          }
        }
      })
    },
    usedBytes: () => usedPagesBytes(database.getStats()),
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
