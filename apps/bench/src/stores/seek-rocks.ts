import { join } from 'node:path'
import { latestQuestion, seekKey, seekKeyBelongsTo, seekValue, seekValueToAnswer } from './seek-key.ts'
import { folderBytes, type LookupResult, type Store } from './store.ts'

/** The part of the binding that is used here; it ships no types. */
interface Rocks {
  open(): Promise<void>
  batch(operations: readonly object[]): Promise<void>
  querySync(options: object): { readonly rows: (Buffer | null)[] }
  close(): Promise<void>
}

const CACHE_BYTES = 256 * 1024 * 1024
const MEMTABLE_BYTES = 64 * 1024 * 1024
const BUFFERS = { keyEncoding: 'buffer', valueEncoding: 'buffer' }

/**
 * Key ++ inverted version on RocksDB; each read seeks, in one synchronous call of the binding.
 * Rejects if the binding is not installed.
 */
export async function openSeekRocks(path: string): Promise<Store> {
  const { RocksLevel } = (await import('@nxtedition/rocksdb' as string)) as {
    RocksLevel: new (location: string, options: object) => Rocks
  }
  const location = join(path, 'rocks')
  const options = { ...BUFFERS, cacheSize: CACHE_BYTES, memtableMemoryBudget: MEMTABLE_BYTES }
  const database = new RocksLevel(location, options)
  await database.open()
  function read(key: Uint8Array, version: bigint): LookupResult {
    const { rows } = database.querySync({ gte: seekKey(key, version), limit: 1, ...BUFFERS })
    const [found, value] = rows
    if (!found || !value || !seekKeyBelongsTo(found, key)) return undefined
    return seekValueToAnswer(value)
  }
  return {
    name: 'key ++ version on RocksDB',
    async ingest(versions) {
      await database.batch(
        versions.flatMap(({ version, writes }) =>
          writes.map(([key, value]) => ({
            type: 'put',
            key: seekKey(key, version),
            value: seekValue(value),
          })),
        ),
      )
    },
    async usedBytes() {
      // RocksDB deletes obsolete files in the background.
      await new Promise((resolve) => setTimeout(resolve, 500))
      return folderBytes(location)
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
