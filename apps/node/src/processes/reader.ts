// The main module of a reader process: it reads the store and answers requests on connections that the supervisor
// passes to it.
import { Socket } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import { LinkedList } from '@ledger-state/core'
import { createHttpServer, type RequestExamples, type ViewFilter, type ViewServiceOptions } from '@ledger-state/http'
import type { ForwardSettings } from '../config/forward-settings.js'
import type { LimitsOfSettings } from '../config/limit-settings.js'
import { openExplorer } from '../explorer/static-files.js'
import { createLogger, type LogSettings } from '../observability/logger.js'
import { createReaderMetrics, registerCacheMetrics } from '../observability/reader-metrics.js'
import type { StorePlace } from '../stores/store-place.js'
import { aborted, failProcess, processSettings, startReports, stopOrder, tellSupervisor } from './child.js'
import { connectionLimit } from './descriptor-limit.js'
import type { ConnectionOffer } from './messages.js'
import { openServedStore } from './served-store.js'

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

const DRAIN_CHECK_MS = 20
/** Age at which a connection that has sent nothing counts as idle. */
const FIRST_REQUEST_MS = 1_000

/**
 * Time within which readers see a commit. They see it within 20 ms of each other; a busy reader takes a little longer.
 */
const READER_SPREAD_MS = 50

interface TakenConnection {
  readonly connection: Socket
  /** Time in milliseconds of `performance.now`. */
  readonly takenAt: number
}

async function runReader(settings: ReaderSettings & { readonly name: string }, stop: AbortSignal): Promise<void> {
  const {
    name,
    place,
    log: logSettings,
    archivalEndpoint,
    forward,
    explorer,
    stopTimeoutMs,
    viewFilter,
    viewBudget,
    ...limits
  } = settings
  const maxConnections = Math.min(settings.maxConnections, connectionLimit())
  const log = createLogger(logSettings, name)
  const store = await openServedStore(place, settings, log)
  const connections = new LinkedList<TakenConnection>()
  const metrics = createReaderMetrics(store, name, log, () => connections.size)
  const ledger = store.ledgerWith(metrics)
  registerCacheMetrics(metrics.registry, ledger)
  const isDebugging = log.isLevelEnabled('debug')
  const files = explorer ? openExplorer() : undefined
  const server = createHttpServer({
    ...limits,
    ledger,
    ...(viewFilter && { viewFilter }),
    ...(viewBudget && { viewBudget }),
    onView: metrics.observeView,
    readTrust: () => store.trust,
    proofs: store.proofs,
    changes: store.changes,
    leastGasEstimate: BigInt(settings.leastGasEstimate),
    ...(archivalEndpoint !== undefined && { archivalEndpoint }),
    ...(forward && {
      forward: {
        ...forward,
        spreadMs: READER_SPREAD_MS,
        onForward: metrics.observeForward,
        onForwarded: metrics.observeForwarded,
        onUpstreamChange({ url, why }) {
          if (why === undefined) log.info(`requests are forwarded to ${url}`)
          else log.error(`requests cannot be forwarded to ${url}: ${why}`)
        },
      },
    }),
    ...(files && { otherRequests: (request, response) => files.answer(request, response) }),
    onUnexpectedError: (err, { method, url }) => log.error({ err, method, url }, 'a request failed'),
    onAnswered(answered) {
      metrics.observeAnswer(answered)
      if (isDebugging) log.debug(answered, 'answered')
    },
  })
  // A server that does not listen starts its timers for slow requests only at this event.
  server.emit('listening')
  process.on('message', ({ offer, takenBefore }: ConnectionOffer, connection) => {
    // The offer arrives without its connection when descriptors have run out.
    const hasRoom = connection instanceof Socket && connections.size < maxConnections
    const inTime = process.hrtime.bigint() < takenBefore
    const type = stop.aborted ? 'stopping' : !hasRoom ? 'full' : inTime ? 'taken' : 'late'
    tellSupervisor({ type, offer })
    if (type === 'taken') take(connection as Socket)
    else (connection as Socket | undefined)?.destroy()
  })
  const currentLedger = () => {
    store.expectInPlace()
    return store.ledger
  }
  const stopReports = startReports(metrics.registry, currentLedger, () => store.fault)
  await aborted(stop)
  stopReports()
  await firstRequests()
  server.close()
  await drained()
  await store.close()

  function take(connection: Socket): void {
    const link = connections.append({ connection, takenAt: performance.now() })
    connection.once('close', () => connections.remove(link))
    connection.setNoDelay(true)
    server.emit('connection', connection)
    connection.resume()
  }

  /**
   * Waits for the first requests of connections that were just taken, because `close` drops those that have sent none.
   */
  async function firstRequests(): Promise<void> {
    const isExpected = ({ connection, takenAt }: TakenConnection): boolean =>
      connection.bytesRead === 0 && performance.now() - takenAt < FIRST_REQUEST_MS
    while ([...connections].some(isExpected)) await sleep(DRAIN_CHECK_MS)
  }

  /** Waits for the current requests to end, then drops the remaining connections. */
  async function drained(): Promise<void> {
    const end = performance.now() + stopTimeoutMs
    while (connections.size > 0 && performance.now() < end) {
      server.closeIdleConnections()
      await sleep(DRAIN_CHECK_MS)
    }
    for (const { connection } of connections) connection.destroy()
  }
}

const stop = stopOrder()
runReader(processSettings(), stop).then(() => process.exit(), failProcess)
