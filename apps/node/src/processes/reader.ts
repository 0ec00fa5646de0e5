// The module of a process that answers requests. It reads the store and takes connections from its supervisor.
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
  // It does not listen itself, but is to have the timers of a server that does.
  server.emit('listening')
  process.on('message', (message, connection) => {
    // Without descriptors left, the message comes without its connection.
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

  /** Lets requests that are under way end, and drops what is left of them in the end. */
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

/** A store that was removed is served on and told of; one that another has replaced is for the next process to open. */
function createStoreWatch(engine: LmdbEngineReader, log: Logger): () => void {
  let isMissing = false
  return () => {
    try {
      engine.expectInPlace()
      isMissing = false
    } catch (error) {
      if (!isLedgerStateError(error, 'store_missing') || error.fields.fate === 'replaced') throw error
      if (!isMissing) log.error(`${error.message}; what is there is served on`)
      isMissing = true
    }
  }
}

const stop = stopOrder()
runReader(JSON.parse(process.argv[2]!), stop).then(() => process.exit(), failProcess)
