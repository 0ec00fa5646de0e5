import { startEmbeddedPostgres } from './embedded-postgres.ts'
import { latestQuestion } from './seek-key.ts'
import { toShortKey } from './short-key.ts'
import type { LookupResult, Store } from './store.ts'

/**
 * PostgreSQL with an index on (key, version DESC) and a prepared statement, over TCP on this machine.
 * Rejects if its binaries are not installed, or do not run.
 */
export async function openPostgres(path: string): Promise<Store> {
  const { default: pg } = await import('pg')
  const { server, url, isNew } = await startEmbeddedPostgres(path)
  const client = new pg.Client({ connectionString: url })
  // When the server ends, the running query rejects with the same error.
  client.on('error', () => {})
  await client.connect()
  if (isNew) {
    await client.query('CREATE TABLE writes (key bytea, version bigint, value bytea)')
    await client.query('CREATE INDEX ON writes (key, version DESC)')
  }
  async function read(key: Uint8Array, version: bigint): Promise<LookupResult> {
    const { rows } = await client.query({
      name: 'at',
      text: 'SELECT value FROM writes WHERE key = $1 AND version <= $2 ORDER BY version DESC LIMIT 1',
      values: [toShortKey(key), String(version === latestQuestion ? 2n ** 63n - 1n : version)],
    })
    return (rows[0]?.value as Buffer | null | undefined) ?? undefined
  }
  return {
    name: 'PostgreSQL',
    isAsync: true,
    async ingest(versions) {
      const [keys, numbers, values]: [Buffer[], string[], (Buffer | null)[]] = [[], [], []]
      for (const { version, writes } of versions) {
        for (const [key, value] of writes) {
          keys.push(Buffer.from(toShortKey(key)))
          numbers.push(String(version))
          values.push(value && Buffer.from(value))
        }
      }
      const text = 'INSERT INTO writes SELECT * FROM unnest($1::bytea[], $2::bigint[], $3::bytea[])'
      await client.query({ name: 'insert', text, values: [keys, numbers, values] })
    },
    async usedBytes() {
      await client.query('VACUUM ANALYZE writes')
      const { rows } = await client.query("SELECT pg_total_relation_size('writes') AS bytes")
      return Number(rows[0].bytes)
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
    async close() {
      await client.end()
      await server.stop()
    },
  }
}
