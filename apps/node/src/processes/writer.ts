// The main module of the writer process: it ingests the next versions of a node, and prunes.
import { getPriority, setPriority } from 'node:os'
import { isLedgerStateError } from '@ledger-state/core'
import type { AsyncStateWriter, StateWriter } from '@ledger-state/engine'
import { BACKUP_FAULTS, type LedgerSource, openSource } from '@ledger-state/feed'
import {
  followSource,
  type IngestOptions,
  ingestSource,
  type KeptParts,
  PRUNE_TURN_ENTRIES,
  pruneTurn,
} from '@ledger-state/ingest'
import { decodeCommitMark, type TransactionIndex } from '@ledger-state/records'
import type { Compress } from '@ledger-state/state-engine'
import type { Logger } from 'pino'
import type { SliceSettings } from '../config/slice-settings.js'
import { usage } from '../errors.js'
import { createLoggedProgress } from '../ingest/ingest-progress.js'
import { type NetworkWindow, openNetworkWindow } from '../ingest/network-window.js'
import { sliceOptionsOf } from '../ingest/slice-options.js'
import { createLogger, type LogSettings } from '../observability/logger.js'
import { createWriterMetrics, type WriterMetrics } from '../observability/writer-metrics.js'
import type { TreeSettings } from '../stores/keep-tree.js'
import { openWriter } from '../stores/open-writer.js'
import type { StorePlace } from '../stores/store-place.js'
import { aborted, failProcess, processSettings, startReports, stopOrder } from './child.js'
import { createTreeKeeper, type TreeKeeper } from './tree-keeper.js'

export interface WriterSettings {
  readonly place: StorePlace
  /** URL of a followed node; undefined if the store is only pruned. */
  readonly follow: string | undefined
  readonly followHeaders: Readonly<Record<string, string>> | undefined
  /** Number of versions to keep, in decimal. */
  readonly retain: string | undefined
  readonly hashSalt: string | undefined
  readonly verify: boolean
  readonly keepTransactions: KeptParts | undefined
  readonly transactionIndexes: readonly TransactionIndex[] | undefined
  /** Number of versions whose transactions stay after their state is pruned, in decimal. */
  readonly retainTransactions: string | undefined
  readonly holdings: boolean
  readonly compress: Compress
  /** Slice for an empty store; undefined for everything. A store with versions continues as before. */
  readonly slice: SliceSettings | undefined
  /** Window of a network's backups to ingest before the node is followed, and again at intervals. */
  readonly window: NetworkWindow | undefined
  /** Trees of signed checkpoints to keep while a source is followed. */
  readonly trees: TreeSettings
  readonly log: LogSettings
}

/** Niceness of the writer. Readers run at 0, so that requests come first if cores are short. */
const NICENESS = 5

/** Interval at which a store that other processes write is pruned. */
const PRUNE_INTERVAL_MS = 5_000
/** Longest interval between two looks into a backup. The interval grows while the node brings nothing. */
const LONGEST_TURN_MS = 300_000

async function runWriter(settings: WriterSettings & { readonly name: string }, stop: AbortSignal): Promise<void> {
  // Only root may lower the niceness with which a process was started.
  if (getPriority() < NICENESS) setPriority(NICENESS)
  const log = createLogger(settings.log, settings.name)
  const metrics = createWriterMetrics(settings.name, log)
  const retain = toBigint(settings.retain)
  if (settings.window || settings.follow !== undefined) await followSources(settings, retain, metrics, log, stop)
  else if (retain !== undefined) await keepPruned(settings.place, retain, metrics, stop)
}

function toBigint(text: string | undefined): bigint | undefined {
  return text === undefined ? undefined : BigInt(text)
}

/** A store that is open for writing, and how sources are ingested into it. */
interface Following {
  readonly engine: StateWriter | AsyncStateWriter
  readonly keeper: TreeKeeper
  readonly how: Omit<IngestOptions, 'only' | 'signal'>
  readonly log: Logger
  /** Opens the followed node. It is asked until it answers, or the signal is aborted. */
  openNode(until?: AbortSignal): Promise<LedgerSource>
  /** The slice to keep, which may need the source once more. */
  only(reopen: () => Promise<LedgerSource>): IngestOptions['only']
}

async function followSources(
  settings: WriterSettings,
  retain: bigint | undefined,
  metrics: WriterMetrics,
  log: Logger,
  stop: AbortSignal,
): Promise<void> {
  const {
    place,
    follow: url,
    followHeaders: headers,
    window,
    verify,
    keepTransactions,
    transactionIndexes,
    holdings,
    compress,
    slice,
    trees,
  } = settings
  const retainTransactions = toBigint(settings.retainTransactions)
  const engine = await openWriter(place, { create: false, compress })
  const stopReports = startReports(metrics.registry, () => engine.ledger)
  const hashSalt = window ? window.network.hashSalt : settings.hashSalt
  const keeper = createTreeKeeper(engine, { place, trees, hashSalt, log: settings.log }, log)
  const onNotice = (message: string): void => log.warn(message)
  const following: Following = {
    engine,
    keeper,
    how: {
      retain,
      retainTransactions,
      keepTransactions,
      transactionIndexes,
      holdings,
      observer: metrics.observer,
      onNotice,
    },
    log,
    openNode: async (until = stop) => {
      const { mark } = engine.kind === 'sync' ? engine : await engine.snapshot()
      const salt = settings.hashSalt ?? decodeCommitMark(mark).hashSalt
      const source = await openSource(url!, { follow: true, headers, verify, hashSalt: salt, onNotice, signal: until })
      if (source.isLive) return source
      await source.close()
      throw usage.followOfNoNode(url!)
    },
    only: (reopen) => slice && sliceOptionsOf(slice, place, reopen),
  }
  try {
    if (!window) await followNode(following, metrics, stop)
    else
      await followNetwork(following, window, url !== undefined, () => openNetworkWindow(window, onNotice, stop), stop)
  } finally {
    stopReports()
    await keeper.close()
    await engine.close()
  }
}

/** Follows a node. While it is being opened, the store is pruned. */
async function followNode(
  { engine, keeper, how, openNode, only }: Following,
  metrics: WriterMetrics,
  stop: AbortSignal,
): Promise<void> {
  const opening = openNode()
  const { retain } = how
  if (retain !== undefined) await pruneUntil(engine, retain, metrics, AbortSignal.any([stop, settled(opening)]))
  const source = await Promise.race([opening, aborted(stop)])
  keeper.resume()
  if (source) await followSource(engine, source, openNode, { ...how, only: only(openNode), signal: stop })
}

/**
 * Ingests the window of a network from a backup, then follows a node. At intervals it opens the backup again and
 * compares the store with it: versions from the node become signed as soon as the backup has their signatures.
 */
async function followNetwork(
  { engine, keeper, how, log, openNode, only }: Following,
  { intervalMs }: NetworkWindow,
  hasNode: boolean,
  openBackup: () => Promise<LedgerSource>,
  stop: AbortSignal,
): Promise<void> {
  let turnMs = intervalMs
  for (let opening = openBackup(); !stop.aborted; ) {
    keeper.pause()
    await ingestBackup(engine, opening, { ...how, only: only(openBackup), signal: stop }, log)
    keeper.resume()
    // The backup is opened while the node is followed, and most of the slow work is done when following pauses.
    const [next, pause] = [Promise.withResolvers<LedgerSource>(), new AbortController()]
    const timer = setTimeout(() => {
      next.resolve(openBackup())
      const end = (): void => pause.abort()
      next.promise.then(end, end)
    }, turnMs)
    opening = next.promise
    opening.catch(() => {})
    const signal = AbortSignal.any([stop, pause.signal])
    const before = engine.ledger?.latestVersion
    if (!hasNode) await aborted(signal)
    else {
      const open = () => openNode(signal)
      const source = await openUntil(open, signal)
      if (source) await followSource(engine, source, open, { ...how, only: only(openNode), signal })
    }
    clearTimeout(timer)
    // A node that takes longer to answer than the interval would otherwise never be heard.
    if (engine.ledger?.latestVersion === before) turnMs = Math.max(turnMs, Math.min(2 * turnMs, LONGEST_TURN_MS))
  }
}

/** Opens a source. Undefined if the signal is aborted first. */
async function openUntil(open: () => Promise<LedgerSource>, signal: AbortSignal): Promise<LedgerSource | undefined> {
  const opening = open()
  try {
    const source = await Promise.race([opening, aborted(signal)])
    if (!source) opening.then((late) => late.close()).catch(() => {})
    return source
  } catch (error) {
    if (signal.aborted) return undefined
    throw error
  }
}

/**
 * Ingests a backup that is being opened. If it cannot be read now, or is not sound, it is tried again later, unless the
 * store is empty without it: strangers keep it, and may change it any time. Another ledger or another chain ends the
 * following of a node.
 */
async function ingestBackup(
  engine: StateWriter | AsyncStateWriter,
  opening: Promise<LedgerSource>,
  how: IngestOptions,
  log: Logger,
): Promise<void> {
  const isFirst = engine.ledger === undefined
  let isOpen = false
  try {
    const source = await opening
    isOpen = true
    try {
      await ingestSource(engine, source, { ...how, progress: createLoggedProgress(log, source) })
    } finally {
      await source.close()
    }
    log.info({ version: engine.ledger?.latestVersion.toString() }, 'the backup of the network is ingested')
  } catch (error) {
    if (how.signal?.aborted) return
    // The window may be one that the backup no longer has.
    const isPassing =
      isLedgerStateError(error, 'spill_failed', ...BACKUP_FAULTS) ||
      (!isOpen && isLedgerStateError(error, 'invalid_argument'))
    if (isFirst || !isPassing) throw error
    log.warn(`the backup of the network cannot be used; trying again later: ${error.message}`)
  }
}

/** Prunes a store whenever no other process has it open for writing. */
async function keepPruned(place: StorePlace, retain: bigint, metrics: WriterMetrics, stop: AbortSignal): Promise<void> {
  const stopReports = startReports(metrics.registry, () => undefined)
  while (!stop.aborted) {
    try {
      const engine = await openWriter(place, { create: false })
      try {
        await pruneUntil(engine, retain, metrics, stop)
      } finally {
        await engine.close()
      }
    } catch (error) {
      if (!isLedgerStateError(error, 'store_locked')) throw error
    }
    await aborted(AbortSignal.any([stop, AbortSignal.timeout(PRUNE_INTERVAL_MS)]))
  }
  stopReports()
}

/** Prunes in turns until nothing is left to prune, or the signal is aborted. */
async function pruneUntil(
  engine: StateWriter | AsyncStateWriter,
  retain: bigint,
  { observer }: WriterMetrics,
  signal: AbortSignal,
): Promise<void> {
  while (!signal.aborted && !(await pruneTurn(engine, retain, PRUNE_TURN_ENTRIES, observer)));
}

/** Signal that is aborted once the promise is settled. */
function settled(promise: Promise<unknown>): AbortSignal {
  const controller = new AbortController()
  const abort = (): void => controller.abort()
  promise.then(abort, abort)
  return controller.signal
}

const stop = stopOrder()
runWriter(processSettings(), stop).then(() => process.exit(), failProcess)
