import type { Client } from 'pg'
import { layoutUnknown, storeMissing } from '../errors.js'
import { ServerLink } from '../sql/link.js'
import type { ServerAddress } from '../sql/server-address.js'
import { isMissingTable, toStoreError } from '../sql/server-errors.js'
import { CREATE_INDEXES, CREATE_TABLES, DISTRIBUTE_TABLES, LAYOUT_VERSION } from './schema.js'

/** Advisory locks of a database, by number; `pg_locks` shows them. */
export const WRITER_LOCK = 7_310_033_214_501n
const CREATION_LOCK = WRITER_LOCK + 1n

/**
 * Checks that there is a store with the layout of this program.
 * @throws `store_missing`; `store_format` if the store has another layout
 */
export async function expectLayout(client: Client, server: string): Promise<void> {
  if (!(await hasStore(client, server))) throw storeMissing.storeAbsent(server)
}

/** Whether the database has a store. @throws `store_format` for a store of another layout */
async function hasStore(client: Client, server: string): Promise<boolean> {
  const found = await layoutVersion(client)
  if (found !== undefined && found !== LAYOUT_VERSION) throw layoutUnknown(server, found, LAYOUT_VERSION)
  return found !== undefined
}

/** Layout of the store in the database; undefined if there is no store. */
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

/** Time limit of the statements that create a store: on Citus, each table is many tables on each worker. */
const CREATION_MS = 60_000

/**
 * Creates the tables of a store if there is none.
 * @throws `store_format` for a store of another layout; errors of the
 * server
 */
export async function createSchema(server: ServerAddress, connectMs: number): Promise<void> {
  const link = new ServerLink({ server, isPipelined: false })
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
  // Without a transaction if there is a store: its user may lack the right to create one.
  if (await hasStore(client, server)) return
  await client.query(NO_STATEMENT_TIMEOUT)
  await client.query('BEGIN')
  try {
    await client.query('SELECT pg_advisory_xact_lock($1)', [String(CREATION_LOCK)])
    await client.query('CREATE SCHEMA IF NOT EXISTS ledger_state')
    await client.query('CREATE TABLE IF NOT EXISTS ledger_state.layout (version int PRIMARY KEY)')
    if (!(await hasStore(client, server))) {
      const distribution = (await hasCitus(client)) ? DISTRIBUTE_TABLES : []
      // One statement at a time: Citus passes each on as a whole.
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
 * Setting for servers with Citus: without it, each statement that we gave up keeps a session of the coordinator until
 * the worker answers (measured with a stopped worker). Citus runs only on Linux; servers elsewhere may refuse the
 * setting.
 */
export const END_ABANDONED_STATEMENTS = "SET client_connection_check_interval = '1s'"

/** Setting for work with time limits of its own: a role or a database may have a limit that suits short statements. */
export const NO_STATEMENT_TIMEOUT = 'SET statement_timeout = 0'

export async function hasCitus(client: Client): Promise<boolean> {
  const { rowCount } = await client.query("SELECT FROM pg_extension WHERE extname = 'citus'")
  return rowCount === 1
}
