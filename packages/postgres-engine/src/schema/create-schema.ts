import type { Client } from 'pg'
import { layoutUnknown, storeAbsent } from '../errors.js'
import { Link } from '../sql/link.js'
import type { ServerAddress } from '../sql/server-address.js'
import { isMissingTable, toStoreError } from '../sql/server-errors.js'
import { CREATE_INDEXES, CREATE_TABLES, DISTRIBUTE_TABLES, LAYOUT_VERSION } from './schema.js'

/** Numbers of advisory locks of a database; `pg_locks` shows them. */
export const WRITER_LOCK = 7_310_033_214_501n
const CREATION_LOCK = WRITER_LOCK + 1n

/** @throws `store_missing`, `store_format` unless the store has the layout of this program */
export async function expectLayout(client: Client, server: string): Promise<void> {
  if (!(await hasStore(client, server))) throw storeAbsent(server)
}

/** @throws `store_format` for a store of another layout */
async function hasStore(client: Client, server: string): Promise<boolean> {
  const found = await layoutVersion(client)
  if (found !== undefined && found !== LAYOUT_VERSION) throw layoutUnknown(server, found, LAYOUT_VERSION)
  return found !== undefined
}

/** Undefined if there is no store. */
async function layoutVersion(client: Client): Promise<number | undefined> {
  try {
    const { rows } = await client.query<{ version: number | null }>(
      'SELECT max(version) AS version FROM ledger_state.layout',
    )
    return rows[0]?.version ?? undefined
  } catch (error) {
    if (isMissingTable(error)) return undefined
    throw error
  }
}

/** How long the statements may take: on Citus, each table is many tables on each worker. */
const CREATION_MS = 60_000

/** Creates the tables of a store where there is none. @throws `store_format` for a store of another layout, … */
export async function createSchema(server: ServerAddress, connectMs: number): Promise<void> {
  const link = new Link({ server, isPipelined: false })
  try {
    const client = await link.connect(connectMs)
    await link.within(CREATION_MS, () => createTables(client, server.name))
  } catch (error) {
    throw toStoreError(error, server.name)
  } finally {
    link.close()
  }
}

async function createTables(client: Client, server: string): Promise<void> {
  // Without a transaction where the store is there: its user may lack the right to create one.
  if (await hasStore(client, server)) return
  await client.query('BEGIN')
  try {
    await client.query('SELECT pg_advisory_xact_lock($1)', [String(CREATION_LOCK)])
    await client.query('CREATE SCHEMA IF NOT EXISTS ledger_state')
    await client.query('CREATE TABLE IF NOT EXISTS ledger_state.layout (version int PRIMARY KEY)')
    if (!(await hasStore(client, server))) {
      const distribution = (await hasCitus(client)) ? DISTRIBUTE_TABLES : []
      // One statement at a time: Citus sends them on as they are.
      for (const sql of [...CREATE_TABLES, ...distribution, ...CREATE_INDEXES]) await client.query(sql)
      await client.query('INSERT INTO ledger_state.layout VALUES ($1)', [LAYOUT_VERSION])
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
