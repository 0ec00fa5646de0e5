import { isLedgerStateError } from '@ledger-state/core'
import type { AsyncStateReader } from '@ledger-state/engine'
import type { AuditedVersions, ChangeSource, LedgerTrust, StateProofs } from '@ledger-state/http'
import { type AsyncLedger, createAsyncLedger, createLedger, type Ledger } from '@ledger-state/ledger'
import { decodeCommitMark } from '@ledger-state/records'
import type { LmdbEngineReader } from '@ledger-state/state-engine'
import type { Logger } from 'pino'
import { auditFoundFault, contradictedStore, trustChanged } from '../errors.js'
import type { MeasuredStore, ReaderMetrics } from '../observability/reader-metrics.js'
import { auditFolder, watchAudit } from '../stores/audit-folder.js'
import { openBlockProofs } from '../stores/block-proofs.js'
import { type OpenProofs, openProofs } from '../stores/open-proofs.js'
import { openReader } from '../stores/open-reader.js'
import { asyncUpToSigned, upToSigned } from '../stores/signed-window.js'
import { nameOfPlace, type StorePlace } from '../stores/store-place.js'
import { createThreadChanges } from './changes-thread.js'

/** Interval at which a database is looked at while it gets no requests. */
const LOOK_INTERVAL_MS = 200

/** A store as a reader process serves it. */
export interface ServedStore extends MeasuredStore {
  /** Reason why the store cannot be served as it should be; undefined if it can. */
  readonly fault: string | undefined
  ledgerWith(metrics: ReaderMetrics): Ledger | AsyncLedger
  /** Source of the proofs of reads. */
  readonly proofs: StateProofs
  /** Source of changes for streams; undefined for a database. */
  readonly changes: ChangeSource | undefined
  /**
   * Checks that the store is still the opened store.
   * @throws if the process must open it again
   */
  expectInPlace(): void
  /**
   * Makes the next read see everything that other processes have read of the store so far; undefined for a database,
   * whose servers may be behind each other.
   */
  readonly refresh: (() => void) | undefined
  close(): Promise<void>
}

/** Settings for serving a store. */
export interface ServingSettings {
  /** Whether versions that no validators signed are hidden from every read. */
  readonly requireSigned: boolean
  /** Folder of the trees of signed checkpoints; undefined if there is none. */
  readonly treeFolder: string | undefined
  /** Whether the store is not ready once an audit has found a wrong state. */
  readonly auditReadiness: boolean
}

/** The way in which a store is served, decided when it is opened. */
interface ServedAs {
  /** Whether versions above the newest signed one are hidden from every read. */
  readonly isCapped: boolean
  /** Reason not to trust the store; undefined if there is none. */
  readonly fault: string | undefined
  /** Signatures that verified the store when it was opened. */
  readonly trust: LedgerTrust
  readonly auditReadiness: boolean
}

/**
 * Opens a store to serve it. If its ledger differs from the ledger that validators signed, it serves only versions up
 * to the newest signed one.
 */
export async function openServedStore(
  place: StorePlace,
  { requireSigned, treeFolder, auditReadiness }: ServingSettings,
  log: Logger,
): Promise<ServedStore> {
  const engine = await openReader(place)
  const { mark } = engine.kind === 'sync' ? engine : await engine.snapshot()
  const trust = decodeCommitMark(mark)
  const { contradicted } = trust
  const fault = contradicted && contradictedStore(contradicted)
  if (fault) log.error(fault)
  const servedAs = { isCapped: requireSigned || fault !== undefined, fault, trust, auditReadiness }
  const folder = auditFolder(nameOfPlace(place))
  const blocks = engine.kind === 'sync' ? openBlockProofs(engine, folder, log) : undefined
  const proofs = openProofs(engine, treeFolder, log, blocks)
  const store =
    engine.kind === 'sync'
      ? serveFolder(engine, servedAs, proofs, watchAudit(engine, folder), log, place)
      : serveDatabase(engine, servedAs, proofs, log)
  if (requireSigned && engine.ledger && !store.ledger) {
    log.error(
      'nothing of the window of this store is signed: with --require-signed nothing of it is served (docs/trust.md)',
    )
  }
  return store
}

function serveFolder(
  engine: LmdbEngineReader,
  { isCapped, fault, auditReadiness }: ServedAs,
  proofs: OpenProofs,
  readAudit: () => AuditedVersions | undefined,
  log: Logger,
  place: StorePlace,
): ServedStore {
  const readTrust = () => decodeCommitMark(engine.mark)
  const served = isCapped ? upToSigned(engine, () => readTrust().signed?.version) : engine
  const expectFile = createStoreWatch(engine, log)
  return {
    get ledger() {
      return served.ledger
    },
    get stats() {
      return engine.stats
    },
    get fault() {
      const findings = auditReadiness ? (readAudit()?.findings ?? 0) : 0
      return fault ?? (findings > 0 ? auditFoundFault : undefined)
    },
    get trust() {
      return { ...readTrust(), audited: readAudit() }
    },
    ledgerWith: (metrics) => createLedger(metrics.sampled(served)),
    expectInPlace() {
      expectFile()
      expectServedAs(fault, readTrust())
    },
    refresh: () => engine.refresh(),
    proofs,
    changes: place.kind === 'database' ? undefined : createThreadChanges(place.dataDir),
    async close() {
      proofs.close()
      await engine.close()
    },
  }
}

function serveDatabase(
  engine: AsyncStateReader,
  { isCapped, fault, trust }: ServedAs,
  proofs: OpenProofs,
  log: Logger,
): ServedStore {
  const served = isCapped ? asyncUpToSigned(engine) : engine
  const watch = watchDatabase(engine, trust, log)
  return {
    get ledger() {
      return served.ledger
    },
    get fault() {
      return watch.isAnswering ? fault : 'the database does not answer'
    },
    get trust() {
      return watch.trust
    },
    ledgerWith: () => createAsyncLedger(served),
    expectInPlace() {
      expectServedAs(fault, watch.trust)
    },
    refresh: undefined,
    proofs,
    changes: undefined,
    async close() {
      watch.stop()
      proofs.close()
      await engine.close()
    },
  }
}

/**
 * Checks that the store is to be served as it was when it was opened. A process serves a store in one way; if something
 * else is found out later, the next process serves it.
 */
function expectServedAs(fault: string | undefined, { contradicted }: LedgerTrust): void {
  if ((contradicted === undefined) !== (fault === undefined)) throw trustChanged()
}

/**
 * Looks at a database again and again. This also keeps the newest ledger known, for reports and `min-ledger-version`.
 * Logs when the database stops answering, and when it answers again.
 */
function watchDatabase(engine: AsyncStateReader, trustAtFirst: LedgerTrust, log: Logger) {
  let isAnswering = true
  let trust = trustAtFirst
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
      trust = decodeCommitMark(mark)
      notice()
    }, notice)
    if (!isStopped) timer = setTimeout(look, LOOK_INTERVAL_MS).unref()
  }
  let timer = setTimeout(look, LOOK_INTERVAL_MS).unref()
  return {
    get isAnswering() {
      return isAnswering
    },
    get trust() {
      return trust
    },
    stop() {
      isStopped = true
      clearTimeout(timer)
    },
  }
}

/**
 * Checks whether the data file is still in its place. A file that was removed is still served, which is logged once. If
 * it was replaced, this process ends, and the next one opens the new file.
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
