import { createAsyncLedger, createLedger, type Ledger } from '@ledger-state/ledger'
import { openStateEngineReader } from '@ledger-state/state-engine'
import { openDatabaseReader } from './open-database.js'
import type { StorePlace } from './store-place.js'

/** The ledger of a store, wherever it is. */
export interface LedgerReader {
  /** Each read sees one state of the ledger. It may run several times, and must do nothing but read. */
  read<T>(run: (ledger: Ledger) => T): Promise<T>
  close(): Promise<void>
}

export async function openLedger(place: StorePlace): Promise<LedgerReader> {
  if ('url' in place) {
    const engine = await openDatabaseReader(place)
    const asyncLedger = createAsyncLedger(engine)
    return { read: (run) => asyncLedger.read(run), close: () => engine.close() }
  }
  const engine = openStateEngineReader({ path: place.dataDir, verifyReads: true })
  const ledger = createLedger(engine)
  return { read: async (run) => run(ledger), close: () => engine.close() }
}
