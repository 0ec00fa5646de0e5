import type { AsyncStateWriter } from '@ledger-state/engine'
import { openStateEngine, type StateEngine, type WriterOptions } from '@ledger-state/state-engine'
import { expectNoBegunCopy } from './begun-copy.js'
import { makeDataFolder } from './make-data-folder.js'
import { openDatabaseWriter } from './open-database.js'
import type { StorePlace } from './store-place.js'

/** Options for opening a writer. Those of the engine apply only to stores in folders. */
export interface OpenWriterOptions extends Pick<WriterOptions, 'compress' | 'memtableBytes' | 'part'> {
  /** Whether to create an empty store if there is none; true by default. */
  readonly create?: boolean
  /** Whether the writer is `index`, which may resume a copy of its own; false by default. */
  readonly isIndexing?: boolean
}

/**
 * Opens a store for writing.
 * @throws `store_missing` if there is none and none may be created; `store_locked`; `usage` if its folder cannot be made, or
 *   has an unfinished copy with an index
 */
export async function openWriter(
  place: StorePlace,
  { create = true, compress = 'auto', isIndexing = false, ...options }: OpenWriterOptions = {},
): Promise<StateEngine | AsyncStateWriter> {
  if (place.kind === 'database') return await openDatabaseWriter(place.url, create)
  if (!isIndexing) expectNoBegunCopy(place)
  if (create) makeDataFolder(place.dataDir)
  return openStateEngine({ path: place.dataDir, create, verifyReads: true, compress, ...options })
}
