import { isLedgerStateError } from '@ledger-state/core'
import type { AsyncStateReader } from '@ledger-state/engine'
import { decodeCommitMark, type SignedRange } from '@ledger-state/ingest'
import { type AsyncLedger, createAsyncLedger, createLedger, type Ledger } from '@ledger-state/ledger'
import type { LmdbEngineReader } from '@ledger-state/state-engine'
import type { Logger } from 'pino'
import type { MeasuredStore, ReaderMetrics } from '../observability/reader-metrics.js'
import { openReader } from '../stores/open-reader.js'
import { asyncUpToSigned, upToSigned } from '../stores/signed-window.js'
import type { StorePlace } from '../stores/store-place.js'

/** How often a database is looked at while nobody asks. */
const LOOK_INTERVAL_MS = 200

/** A store as a reader process serves it. */
export interface ServedStore extends MeasuredStore {
  /** Whether it could be read when that was last tried. */
  readonly isAnswering: boolean
  ledgerWith(metrics: ReaderMetrics): Ledger | AsyncLedger
  /** Looks whether the store is still the one that was opened. @throws where the process must open it anew */
  expectInPlace(): void
  close(): Promise<void>
}

/** @param requireSigned whether versions that no validators signed are not there for any read */
export async function openServedStore(place: StorePlace, requireSigned: boolean, log: Logger): Promise<ServedStore> {
  const engine = await openReader(place)
  const store =
    engine.kind === 'sync' ? serveFolder(engine, requireSigned, log) : serveDatabase(engine, requireSigned, log)
  if (requireSigned && engine.ledger && !store.ledger) {
    log.error(
      'nothing of the window of this store is signed: with --require-signed nothing of it is served (docs/trust.md)',
    )
  }
  return store
}

function serveFolder(engine: LmdbEngineReader, requireSigned: boolean, log: Logger): ServedStore {
  const readSigned = () => decodeCommitMark(engine.mark).signed
  const served = requireSigned ? upToSigned(engine, () => readSigned()?.version) : engine
  return {
    get ledger() {
      return served.ledger
    },
    get stats() {
      return engine.stats
    },
    isAnswering: true,
    get signed() {
      return readSigned()
    },
    ledgerWith: (metrics) => createLedger(metrics.sampled(served)),
    expectInPlace: createStoreWatch(engine, log),
    close: () => engine.close(),
  }
}

function serveDatabase(engine: AsyncStateReader, requireSigned: boolean, log: Logger): ServedStore {
  const served = requireSigned ? asyncUpToSigned(engine) : engine
  const watch = watchDatabase(engine, log)
  return {
    get ledger() {
      return served.ledger
    },
    get isAnswering() {
      return watch.isAnswering
    },
    get signed() {
      return watch.signed
    },
    ledgerWith: () => createAsyncLedger(served),
    expectInPlace() {},
    async close() {
      watch.stop()
      await engine.close()
    },
  }
}

/**
 * Looks again and again, which also keeps the newest ledger known while nobody asks: reports and `min-ledger-version` need
 * it. Logs when the database does not answer any more, and when it answers again.
 */
function watchDatabase(engine: AsyncStateReader, log: Logger) {
  let isAnswering = true
  let signed: SignedRange | undefined
  let isStopped = false
  const notice = (error?: unknown): void => {
    const answers = error === undefined
    if (isStopped || answers === isAnswering) return
    isAnswering = answers
    if (answers) log.info('the database answers again')
    else log.error(error instanceof Error ? error.message : String(error))
  }
  const look = async (): Promise<void> => {
    await engine.snapshot().then(({ mark }) => {
      signed = decodeCommitMark(mark).signed
      notice()
    }, notice)
    if (!isStopped) timer = setTimeout(look, LOOK_INTERVAL_MS).unref()
  }
  let timer = setTimeout(look, LOOK_INTERVAL_MS).unref()
  return {
    get isAnswering() {
      return isAnswering
    },
    get signed() {
      return signed
    },
    stop() {
      isStopped = true
      clearTimeout(timer)
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
