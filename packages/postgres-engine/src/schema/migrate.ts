import type { Client } from 'pg'
import { storeAbsent, storeNewer, storeOlder } from '../errors.js'
import { Link } from '../sql/link.js'
import type { ServerAddress } from '../sql/server-address.js'
import { isMissingTable, toStoreError } from '../sql/server-errors.js'
import { LAYOUT_VERSION, MIGRATIONS } from './migrations.js'

/** Numbers of advisory locks of a database; `pg_locks` shows them. */
export const WRITER_LOCK = 7_310_033_214_501n
const MIGRATION_LOCK = WRITER_LOCK + 1n

/** @throws `store_missing`, `store_format` unless the store has the layout of this program */
export async function expectLayout(client: Client, server: string): Promise<void> {
  const found = await layoutVersion(client)
  if (found === undefined) throw storeAbsent(server)
  if (found > LAYOUT_VERSION) throw storeNewer(server, found, LAYOUT_VERSION)
  if (found < LAYOUT_VERSION) throw storeOlder(server, found, LAYOUT_VERSION)
}

/** Undefined where there is no store. */
async function layoutVersion(client: Client): Promise<number | undefined> {
  try {
    const { rows } = await client.query<{ version: number }>('SELECT max(version) AS version FROM ledger_state.layout')
    return rows[0]?.version ?? 0
  } catch (error) {
    if (isMissingTable(error)) return undefined
    throw error
  }
}

/** For a migration; on Citus, each table is a table on each worker, many times. */
const MIGRATION_MS = 60_000

/** Brings a store to the layout of this program, and creates it where there is none. @throws `store_format`, … */
export async function migrateStore(server: ServerAddress, connectMs: number): Promise<void> {
  const link = new Link({ server, isPipelined: false })
  try {
    const client = await link.connect(connectMs)
    await link.within(MIGRATION_MS, () => migrate(client, server.name))
  } catch (error) {
    throw toStoreError(error, server.name)
  } finally {
    link.close()
  }
}

async function migrate(client: Client, server: string): Promise<void> {
  const found = await layoutVersion(client)
  if (found === LAYOUT_VERSION) return
  await client.query('BEGIN')
  try {
    await client.query('SELECT pg_advisory_xact_lock($1)', [String(MIGRATION_LOCK)])
    await client.query('CREATE SCHEMA IF NOT EXISTS ledger_state')
    await client.query('CREATE TABLE IF NOT EXISTS ledger_state.layout (version int PRIMARY KEY)')
    const applied = (await layoutVersion(client)) ?? 0
    if (applied > LAYOUT_VERSION) throw storeNewer(server, applied, LAYOUT_VERSION)
    const isSharded = await hasCitus(client)
    for (const [at, { tables, distribution, indexes }] of MIGRATIONS.entries()) {
      if (at < applied) continue
      // One statement at a time: Citus sends them on as they are.
      for (const sql of [...tables, ...(isSharded ? distribution : []), ...indexes]) await client.query(sql)
      await client.query('INSERT INTO ledger_state.layout VALUES ($1)', [at + 1])
    }
    await client.query('COMMIT')
  } catch (error) {
    await client.query('ROLLBACK').catch(() => {})
    throw error
  }
}

/**
 * Measured with a worker that is stopped: without it, each statement that we have given up keeps a session of the
 * coordinator until the worker answers. For servers with Citus, which runs on Linux; elsewhere servers may refuse it.
 */
export const END_ABANDONED_STATEMENTS = "SET client_connection_check_interval = '1s'"

export async function hasCitus(client: Client): Promise<boolean> {
  const { rowCount } = await client.query("SELECT FROM pg_extension WHERE extname = 'citus'")
  return rowCount === 1
}
