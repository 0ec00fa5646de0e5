// The main module of a reader process: it reads the store and answers requests on connections from the supervisor.
import { Socket } from 'node:net'
import { isLedgerStateError } from '@ledger-state/core'
import { createHttpServer } from '@ledger-state/http'
import { createLedger } from '@ledger-state/ledger'
import { type LmdbEngineReader, openStateEngineReader } from '@ledger-state/state-engine'
import type { Logger } from 'pino'
import { createLogger, type LogSettings } from '../observability/logger.js'
import { createReaderMetrics } from '../observability/reader-metrics.js'
import { aborted, failProcess, startReports, stopOrder } from './child.js'
import { TAKE_CONNECTION } from './messages.js'

export interface ReaderSettings {
  readonly dataDir: string
  readonly headerWord: string
  readonly output: { readonly json: boolean; readonly bcs: boolean }
  readonly archivalEndpoint: string | undefined
  readonly bodyLimitBytes: number
  readonly maxConnections: number
  readonly maxRequestsInFlight: number
  readonly requestTimeoutMs: number
  readonly idleTimeoutMs: number
  readonly stopTimeoutMs: number
  readonly log: LogSettings
}

const DRAIN_CHECK_MS = 20

async function runReader(settings: ReaderSettings & { readonly name: string }, stop: AbortSignal): Promise<void> {
  const { name, dataDir, log: logSettings, archivalEndpoint, stopTimeoutMs, maxConnections, ...limits } = settings
  const log = createLogger(logSettings, name)
  const engine = openStateEngineReader({ path: dataDir, verifyReads: true })
  const connections = new Set<Socket>()
  const metrics = createReaderMetrics(engine, name, () => connections.size)
  const isDebugging = log.isLevelEnabled('debug')
  const server = createHttpServer({
    ...limits,
    ledger: createLedger(metrics.sampled(engine)),
    ...(archivalEndpoint !== undefined && { archivalEndpoint }),
    onUnexpectedError: (err, { method, url }) => log.error({ err, method, url }, 'a request failed'),
    onAnswered(answered) {
      metrics.observeAnswer(answered)
      if (isDebugging) log.debug(answered, 'answered')
    },
  })
  // A server that does not listen starts its timers for slow requests only by this event.
  server.emit('listening')
  process.on('message', (message, connection) => {
    // Where descriptors have run out, the message arrives without its connection.
    if (message !== TAKE_CONNECTION || !(connection instanceof Socket)) return
    if (stop.aborted || connections.size >= maxConnections) {
      connection.destroy()
      return
    }
    connections.add(connection)
    connection.once('close', () => connections.delete(connection))
    connection.setNoDelay(true)
    server.emit('connection', connection)
    connection.resume()
  })
  const expectStore = createStoreWatch(engine, log)
  const stopReports = startReports(metrics.registry, () => {
    expectStore()
    return engine.ledger
  })
  await aborted(stop)
  stopReports()
  server.close()
  await drained()
  await engine.close()

  /** Waits for the requests under way to end, then drops the connections that are left. */
  async function drained(): Promise<void> {
    const end = performance.now() + stopTimeoutMs
    while (connections.size > 0 && performance.now() < end) {
      for (const connection of connections) if (connection.bytesRead === 0) connection.destroy()
      server.closeIdleConnections()
      await new Promise((resolve) => setTimeout(resolve, DRAIN_CHECK_MS))
    }
    for (const connection of connections) connection.destroy()
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
runReader(JSON.parse(process.argv[2]!), stop).then(() => process.exit(), failProcess)
