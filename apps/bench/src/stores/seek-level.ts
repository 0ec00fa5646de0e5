import { join } from 'node:path'
import { ClassicLevel } from 'classic-level'
import { latestQuestion, seekKey, seekKeyBelongsTo, seekValue, seekValueToAnswer } from './seek-key.ts'
import { folderBytes, type LookupResult, type Store } from './store.ts'

/** Key ++ inverted version on LevelDB; each read makes an iterator, as its documentation shows. */
export async function openSeekLevel(path: string): Promise<Store> {
  const location = join(path, 'level')
  const database = new ClassicLevel<Buffer, Buffer>(location, {
    keyEncoding: 'buffer',
    valueEncoding: 'buffer',
    cacheSize: 256 * 1024 * 1024,
    writeBufferSize: 64 * 1024 * 1024,
  })
  await database.open()
  async function read(key: Uint8Array, version: bigint): Promise<LookupResult> {
    const iterator = database.iterator({ gte: seekKey(key, version), limit: 1, highWaterMarkBytes: 0 })
    try {
      const entry = await iterator.next()
      if (!entry || !seekKeyBelongsTo(entry[0], key)) return undefined
      return seekValueToAnswer(entry[1])
    } finally {
      await iterator.close()
    }
  }
  return {
    name: 'key ++ version on LevelDB',
    isAsync: true,
    async ingest(versions) {
      await database.batch(
        versions.flatMap(({ version, writes }) =>
          writes.map(([key, value]) => ({
            type: 'put' as const,
            key: seekKey(key, version),
            value: seekValue(value),
          })),
        ),
      )
    },
    async usedBytes() {
      await database.compactRange(Buffer.of(0), Buffer.alloc(8, 0xff))
      return folderBytes(location)
    },
    async latest(questions) {
      let answer: LookupResult
      for (const { key } of questions) answer = await read(key, latestQuestion)
      return answer
    },
    async atVersion(questions) {
      let answer: LookupResult
      for (const { key, version } of questions) answer = await read(key, version)
      return answer
    },
    close: () => database.close(),
  }
}
