// The main module of a reader process: it reads the store and answers requests on connections from the supervisor.
import { Socket } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import { isLedgerStateError, LinkedList } from '@ledger-state/core'
import { createHttpServer, type RequestExamples } from '@ledger-state/http'
import { createLedger } from '@ledger-state/ledger'
import { type LmdbEngineReader, openStateEngineReader } from '@ledger-state/state-engine'
import type { Logger } from 'pino'
import { openExplorer } from '../explorer/static-files.js'
import { createLogger, type LogSettings } from '../observability/logger.js'
import { createReaderMetrics, registerCacheMetrics } from '../observability/reader-metrics.js'
import { aborted, failProcess, processSettings, startReports, stopOrder, tellSupervisor } from './child.js'
import { connectionLimit } from './descriptor-limit.js'
import type { ConnectionOffer } from './messages.js'

export interface ReaderSettings {
  readonly dataDir: string
  readonly headerWord: string
  readonly output: { readonly json: boolean; readonly bcs: boolean }
  readonly archivalEndpoint: string | undefined
  /** Whether the page of the node is served. */
  readonly explorer: boolean
  readonly bodyLimitBytes: number
  readonly maxConnections: number
  readonly maxRequestsInFlight: number
  readonly maxUploads: number
  readonly maxUploadBytes: number
  readonly maxAnswerBytes: number
  readonly requestTimeoutMs: number
  readonly idleTimeoutMs: number
  readonly stopTimeoutMs: number
  /** Requests that fit what the store holds. */
  readonly examples?: RequestExamples
  readonly log: LogSettings
}

const DRAIN_CHECK_MS = 20
/** A connection that is this old and has sent nothing is idle. */
const FIRST_REQUEST_MS = 1_000

interface TakenConnection {
  readonly connection: Socket
  /** In milliseconds of `performance.now`. */
  readonly takenAt: number
}

async function runReader(settings: ReaderSettings & { readonly name: string }, stop: AbortSignal): Promise<void> {
  const { name, dataDir, log: logSettings, archivalEndpoint, explorer, stopTimeoutMs, ...limits } = settings
  const maxConnections = Math.min(settings.maxConnections, connectionLimit())
  const log = createLogger(logSettings, name)
  const engine = openStateEngineReader({ path: dataDir, verifyReads: true })
  const connections = new LinkedList<TakenConnection>()
  const metrics = createReaderMetrics(engine, name, () => connections.size)
  const ledger = createLedger(metrics.sampled(engine))
  registerCacheMetrics(metrics.registry, ledger)
  const isDebugging = log.isLevelEnabled('debug')
  const files = explorer ? openExplorer() : undefined
  const server = createHttpServer({
    ...limits,
    ledger,
    ...(archivalEndpoint !== undefined && { archivalEndpoint }),
    ...(files && { otherRequests: (request, response) => files.answer(request, response) }),
    onUnexpectedError: (err, { method, url }) => log.error({ err, method, url }, 'a request failed'),
    onAnswered(answered) {
      metrics.observeAnswer(answered)
      if (isDebugging) log.debug(answered, 'answered')
    },
  })
  // A server that does not listen starts its timers for slow requests only by this event.
  server.emit('listening')
  process.on('message', ({ offer, takenBefore }: ConnectionOffer, connection) => {
    // Where descriptors have run out, the offer arrives without its connection.
    const hasRoom = connection instanceof Socket && connections.size < maxConnections
    const inTime = process.hrtime.bigint() < takenBefore
    const type = stop.aborted ? 'stopping' : !hasRoom ? 'full' : inTime ? 'taken' : 'late'
    tellSupervisor({ type, offer })
    if (type === 'taken') take(connection as Socket)
    else (connection as Socket | undefined)?.destroy()
  })
  const expectStore = createStoreWatch(engine, log)
  const stopReports = startReports(metrics.registry, () => {
    expectStore()
    return engine.ledger
  })
  await aborted(stop)
  stopReports()
  await firstRequests()
  server.close()
  await drained()
  await engine.close()

  function take(connection: Socket): void {
    const link = connections.append({ connection, takenAt: performance.now() })
    connection.once('close', () => connections.remove(link))
    connection.setNoDelay(true)
    server.emit('connection', connection)
    connection.resume()
  }

  /** Waits for the first requests of connections that were just taken: `close` drops those that have sent none. */
  async function firstRequests(): Promise<void> {
    const isExpected = ({ connection, takenAt }: TakenConnection): boolean =>
      connection.bytesRead === 0 && performance.now() - takenAt < FIRST_REQUEST_MS
    while ([...connections].some(isExpected)) await sleep(DRAIN_CHECK_MS)
  }

  /** Waits for the requests under way to end, then drops the connections that are left. */
  async function drained(): Promise<void> {
    const end = performance.now() + stopTimeoutMs
    while (connections.size > 0 && performance.now() < end) {
      server.closeIdleConnections()
      await sleep(DRAIN_CHECK_MS)
    }
    for (const { connection } of connections) connection.destroy()
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

const stop = stopOrder()
runReader(processSettings(), stop).then(() => process.exit(), failProcess)
