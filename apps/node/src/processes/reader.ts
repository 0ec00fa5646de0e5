// The main module of a reader process: it reads the store and answers requests on connections that the supervisor
// passes to it.
import { Socket } from 'node:net'
import {
  createHttpServer,
  type HttpServerOptions,
  type RequestExamples,
  type ViewFilter,
  type ViewServiceOptions,
} from '@ledger-state/http'
import type { ForwardSettings } from '../config/forward-settings.js'
import type { LimitsOfSettings } from '../config/limit-settings.js'
import { openExplorer } from '../explorer/static-files.js'
import { createLogger, type LogSettings, type ProcessLogger } from '../observability/logger.js'
import { createReaderMetrics, type ReaderMetrics, registerCacheMetrics } from '../observability/reader-metrics.js'
import type { StorePlace } from '../stores/store-place.js'
import { aborted, failProcess, processSettings, startReports, stopOrder, tellSupervisor } from './child.js'
import { connectionLimit } from './descriptor-limit.js'
import type { ConnectionOffer } from './messages.js'
import { ReaderConnections } from './reader-connections.js'
import { openServedStore, type ServedStore } from './served-store.js'

export interface ReaderSettings extends LimitsOfSettings {
  readonly place: StorePlace
  readonly headerWord: string
  readonly compatibleHeaders: boolean
  readonly leastGasEstimate: number
  readonly output: { readonly json: boolean; readonly bcs: boolean }
  readonly archivalEndpoint: string | undefined
  /** Name of the network; undefined if none was given. */
  readonly network: string | undefined
  /** Settings for forwarding to upstreams; undefined if nothing is forwarded. */
  readonly forward: ForwardSettings | undefined
  /** Whether the page of the node is served. */
  readonly explorer: boolean
  /** Whether to serve only versions up to the newest signed one. */
  readonly requireSigned: boolean
  /** Whether the store is not ready once an audit has found a wrong state. */
  readonly auditReadiness: boolean
  /** Folder of the trees of signed checkpoints; undefined if there is none. */
  readonly treeFolder: string | undefined
  readonly views: boolean
  readonly viewFilter: ViewFilter | undefined
  readonly viewBudget: ViewServiceOptions['viewBudget'] | undefined
  readonly stopTimeoutMs: number
  /** Requests that fit the content of the store. */
  readonly examples?: RequestExamples
  readonly log: LogSettings
}

/**
 * Time within which readers see a commit. They see it within 20 ms of each other; a busy reader takes a little longer.
 */
const READER_SPREAD_MS = 50

type NamedSettings = ReaderSettings & { readonly name: string }

/** Serves the connections that the supervisor offers until it orders a stop, then ends them. */
async function runReader(settings: NamedSettings, stop: AbortSignal): Promise<void> {
  const { name, place } = settings
  const log = createLogger(settings.log, name)
  const store = await openServedStore(place, settings, log)
  const connections = new ReaderConnections(Math.min(settings.maxConnections, connectionLimit()))
  const metrics = createReaderMetrics(store, name, log, () => connections.size)
  const server = createHttpServer(serverOptions(settings, store, metrics, log))
  // A server that does not listen starts its timers for slow requests only at this event.
  server.emit('listening')
  process.on('message', (offer: ConnectionOffer, connection) => {
    if (answerOffer(offer, connection, connections, stop)) connections.take(connection as Socket, server)
  })
  const currentLedger = () => {
    store.expectInPlace()
    return store.ledger
  }
  const stopReports = startReports(metrics.registry, currentLedger, () => store.fault)
  await aborted(stop)
  tellSupervisor({ type: 'stopping', offer: 0 })
  await connections.firstRequests()
  server.close()
  await connections.drained(server, settings.stopTimeoutMs)
  stopReports()
  await store.close()
}

function serverOptions(
  settings: NamedSettings,
  store: ServedStore,
  metrics: ReaderMetrics,
  log: ProcessLogger,
): HttpServerOptions {
  const {
    name: _,
    place: __,
    log: ___,
    archivalEndpoint,
    forward,
    explorer,
    viewFilter,
    viewBudget,
    ...limits
  } = settings
  const ledger = store.ledgerWith(metrics)
  registerCacheMetrics(metrics.registry, ledger)
  const isDebugging = log.isLevelEnabled('debug')
  const files = explorer ? openExplorer() : undefined
  return {
    ...limits,
    ledger,
    ...(viewFilter && { viewFilter }),
    ...(viewBudget && { viewBudget }),
    onView: metrics.observeView,
    readTrust: () => store.trust,
    spreadMs: READER_SPREAD_MS,
    ...(store.refresh && { refresh: store.refresh }),
    proofs: store.proofs,
    changes: store.changes,
    leastGasEstimate: BigInt(settings.leastGasEstimate),
    ...(archivalEndpoint !== undefined && { archivalEndpoint }),
    ...(forward && { forward: forwardOptions(forward, metrics, log) }),
    ...(files && { otherRequests: (request, response) => files.answer(request, response) }),
    onUnexpectedError: (err, { method, url }) => log.error({ err, method, url }, 'a request failed'),
    onAnswered(answered) {
      metrics.observeAnswer(answered)
      if (isDebugging) log.debug(answered, 'answered')
    },
  }
}

function forwardOptions(
  forward: ForwardSettings,
  metrics: ReaderMetrics,
  log: ProcessLogger,
): NonNullable<HttpServerOptions['forward']> {
  return {
    ...forward,
    onForward: metrics.observeForward,
    onForwarded: metrics.observeForwarded,
    onUpstreamChange({ url, why }) {
      if (why === undefined) log.info(`requests are forwarded to ${url}`)
      else log.error(`requests cannot be forwarded to ${url}: ${why}`)
    },
  }
}

/** Tells the supervisor whether this reader takes an offered connection. Closes the connection if it does not. */
function answerOffer(
  { offer, takenBefore }: ConnectionOffer,
  connection: unknown,
  connections: ReaderConnections,
  stop: AbortSignal,
): boolean {
  // The offer arrives without its connection when descriptors have run out.
  const arrived = connection instanceof Socket ? connection : undefined
  const hasRoom = arrived !== undefined && connections.hasRoom
  const inTime = process.hrtime.bigint() < takenBefore
  const type = stop.aborted ? 'stopping' : !hasRoom ? 'full' : inTime ? 'taken' : 'late'
  tellSupervisor({ type, offer })
  if (type !== 'taken') arrived?.destroy()
  return type === 'taken'
}

const stop = stopOrder()
runReader(processSettings(), stop).then(() => process.exit(), failProcess)
