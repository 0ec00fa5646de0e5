import type { PostgresEngine, PostgresEngineReader } from '@ledger-state/postgres-engine'
import type { DatabasePlace } from './store-place.js'

// The client of the database is loaded only if a command names one.

/**
 * Opens a database for reading.
 * @throws `unavailable`, `store_missing`, `store_format`, `store_failed`
 */
export async function openDatabaseReader({ url, replicas }: DatabasePlace): Promise<PostgresEngineReader> {
  const { openPostgresEngineReader } = await import('@ledger-state/postgres-engine')
  return await openPostgresEngineReader({ url, replicas })
}

/**
 * Opens a database for writing.
 * @throws as `openDatabaseReader`; `store_locked` while another writer has it open
 */
export async function openDatabaseWriter(url: string, create = true): Promise<PostgresEngine> {
  const { openPostgresEngine } = await import('@ledger-state/postgres-engine')
  return await openPostgresEngine({ url, create })
}

/**
 * Creates the tables of a store if there are none.
 * @throws as `openDatabaseReader`
 */
export async function createDatabaseStore(url: string): Promise<void> {
  const { createPostgresStore } = await import('@ledger-state/postgres-engine')
  await createPostgresStore({ url })
}
