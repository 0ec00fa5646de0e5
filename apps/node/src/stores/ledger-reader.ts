import { createAsyncLedger, createLedger, type Ledger } from '@ledger-state/ledger'
import { openStateEngineReader } from '@ledger-state/state-engine'
import { outsideOfStore } from '../errors.js'
import { openDatabaseReader } from './open-database.js'
import type { StorePlace } from './store-place.js'

/** The ledger of a store in any place. */
export interface LedgerReader {
  /** Runs a read, which sees one state of the ledger. It may run several times, and must do nothing but read. */
  read<T>(run: (ledger: Ledger) => T): Promise<T>
  close(): Promise<void>
}

export async function openLedger(place: StorePlace): Promise<LedgerReader> {
  if (place.kind === 'database') {
    const engine = await openDatabaseReader(place)
    const asyncLedger = createAsyncLedger(engine)
    return { read: (run) => asyncLedger.read((ledger) => namingRange(ledger, run)), close: () => engine.close() }
  }
  const engine = openStateEngineReader({ path: place.dataDir, verifyReads: true })
  const ledger = createLedger(engine)
  return { read: async (run) => namingRange(ledger, run), close: () => engine.close() }
}

/** Adds the content of the store to an error about a version or a time outside of it. */
function namingRange<T>(ledger: Ledger, run: (ledger: Ledger) => T): T {
  try {
    return run(ledger)
  } catch (error) {
    throw outsideOfStore(error, ledger.info)
  }
}
