import { isLedgerStateError } from '@ledger-state/core'
import { createLedger, createRemoteLedger, type Ledger, type RemoteLedger } from '@ledger-state/ledger'
import type { LmdbEngineReader, RemoteStateReader } from '@ledger-state/state-engine'
import type { Logger } from 'pino'
import type { MeasuredStore, ReaderMetrics } from '../observability/reader-metrics.js'
import { openReader } from '../stores/open-reader.js'
import type { StorePlace } from '../stores/store-place.js'

/** A store as a reader process serves it. */
export interface ServedStore extends MeasuredStore {
  ledgerWith(metrics: ReaderMetrics): Ledger | RemoteLedger
  /** Looks whether the store is still the one that was opened. @throws where the process must open it anew */
  expectInPlace(): void
  close(): Promise<void>
}

export async function openServedStore(place: StorePlace, log: Logger): Promise<ServedStore> {
  const engine = await openReader(place)
  return 'at' in engine ? serveFolder(engine, log) : serveDatabase(engine)
}

function serveFolder(engine: LmdbEngineReader, log: Logger): ServedStore {
  return {
    get ledger() {
      return engine.ledger
    },
    get stats() {
      return engine.stats
    },
    ledgerWith: (metrics) => createLedger(metrics.sampled(engine)),
    expectInPlace: createStoreWatch(engine, log),
    close: () => engine.close(),
  }
}

function serveDatabase(engine: RemoteStateReader): ServedStore {
  // Keeps the newest ledger known while nobody asks: reports and `min-ledger-version` tell it.
  const stopWatching = engine.onCommit(() => {})
  return {
    get ledger() {
      return engine.ledger
    },
    ledgerWith: () => createRemoteLedger(engine),
    expectInPlace() {},
    async close() {
      stopWatching()
      await engine.close()
    },
  }
}

/**
 * Looks whether the data file is still in its place. One that was removed is still served, and logged once; one that was
 * replaced ends this process, and the next one opens the new file.
 */
function createStoreWatch(engine: LmdbEngineReader, log: Logger): () => void {
  let isMissing = false
  return () => {
    try {
      engine.expectInPlace()
      isMissing = false
    } catch (error) {
      if (!isLedgerStateError(error, 'store_missing') || error.fields.fate === 'replaced') throw error
      if (!isMissing) log.error(`${error.message}; the removed file is still served`)
      isMissing = true
    }
  }
}
