import { type LmdbEngineReader, openStateEngineReader } from '@ledger-state/state-engine'
import { openDatabaseReader } from './open-database.js'
import type { StorePlace } from './store-place.js'

type DatabaseReader = Awaited<ReturnType<typeof openDatabaseReader>>

/**
 * Opens a store for reading. Only an `LmdbEngineReader` has `at`.
 * @throws `store_missing` if there is none
 */
export async function openReader(place: StorePlace): Promise<LmdbEngineReader | DatabaseReader> {
  if (place.kind === 'database') return await openDatabaseReader(place)
  return openStateEngineReader({ path: place.dataDir, verifyReads: true })
}
