import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import { LedgerStateError } from '@ledger-state/core'
import type { Ledger } from '@ledger-state/ledger'
import type { FastifyInstance } from 'fastify'
import type { OutputFormat } from './accept.js'
import { type Answered, createAnswerWriter } from './answer-writer.js'
import { createChainHeaders } from './chain-headers.js'
import { Exchange } from './exchange.js'
import { createFrameworkApp } from './framework-app.js'
import { dropIdleConnections } from './idle-connections.js'
import { type LoadLimits, LoadShedder } from './load-shedding.js'
import { getAccountBalance } from './operations/account-balance.js'
import { createBatchOperations } from './operations/batch.js'
import { createHealthOperation } from './operations/health.js'
import { getLedgerInfo } from './operations/ledger-info.js'
import { getRawTableItem } from './operations/raw-table-item.js'
import { getTableItem } from './operations/table-item.js'
import { collectBody, createPlainRequestReader } from './plain-request.js'

export interface HttpServerOptions extends Partial<LoadLimits> {
  readonly ledger: Ledger
  /** Word in the names of the chain-state headers: `x-<word>-ledger-version`. Default `svc`. */
  readonly headerWord?: string
  /** Formats that are answered with; both by default. */
  readonly output?: Readonly<Record<OutputFormat, boolean>>
  /** Largest request body, also after unpacking; default 8 MiB. */
  readonly bodyLimitBytes?: number
  /** Connections at one time; more are closed as they come. Default 10,000. */
  readonly maxConnections?: number
  /** A request that has not come in whole by then is answered 408 and dropped. Default 30 s. */
  readonly requestTimeoutMs?: number
  /** A connection on which nothing moves for so long is dropped: slow readers as well as idle clients. Default 60 s. */
  readonly idleTimeoutMs?: number
  /** Absolute URL, ending in `/v1`, of a service that keeps versions which this one has pruned. */
  readonly archivalEndpoint?: string
  /** Told of faults of ours, which clients see as 500 without details. */
  readonly onUnexpectedError?: (error: unknown, request: { method: string; url: string }) => void
  /** Told of every answer when it is handed to its socket. */
  readonly onAnswered?: (answered: Answered) => void
}

/** Request line and headers together. */
const MAX_HEADER_BYTES = 32_768
const DEFAULT_LOAD_LIMITS: LoadLimits = { maxRequestsInFlight: 2_000, maxEventLoopDelayMs: 1_000 }

/**
 * The service as a fastify instance, not yet listening. Plain requests go from the socket straight to their operation,
 * which spares a seventh of a `POST` and a 25th of a `GET`; all others, and what is injected, go through the framework to
 * the same answers. So hooks that are added to the instance do not see plain requests.
 */
export function createHttpServer({
  ledger,
  headerWord = 'svc',
  output = { json: true, bcs: true },
  bodyLimitBytes = 8 * 1024 * 1024,
  maxConnections = 10_000,
  requestTimeoutMs = 30_000,
  idleTimeoutMs = 60_000,
  archivalEndpoint,
  onUnexpectedError = () => {},
  onAnswered,
  ...loadLimits
}: HttpServerOptions): FastifyInstance {
  const chainHeaders = createChainHeaders(headerWord)
  const answers = createAnswerWriter({ ledger, chainHeaders, archivalEndpoint, onUnexpectedError, onAnswered })
  const load = new LoadShedder({ ...DEFAULT_LOAD_LIMITS, ...loadLimits })
  const operations = [
    getTableItem,
    getRawTableItem,
    getAccountBalance,
    ...createBatchOperations(archivalEndpoint),
    getLedgerInfo,
    createHealthOperation(headerWord),
  ]
  const readPlainRequest = createPlainRequestReader(operations, bodyLimitBytes)
  let isClosing = false

  function beginExchange(request: IncomingMessage, response: ServerResponse): Exchange {
    return new Exchange(request, response, ledger, expectOutput)
  }

  function expectOutput(format: OutputFormat, what: string): void {
    if (output[format]) return
    const message = `${what} with ${format.toUpperCase()} output is disabled on this endpoint`
    throw new LedgerStateError('output_disabled', message)
  }

  /** Takes care of a request that is plain, and tells whether it was. */
  function handlePlainRequest(request: IncomingMessage, response: ServerResponse): boolean {
    const plain = readPlainRequest(request)
    if (!plain) return false
    const { operation, params, bodyLength } = plain
    const exchange = beginExchange(request, response)
    const hasBody = operation.method === 'POST'
    const refusal = load.admit(response, hasBody)
    if (refusal) answers.sendError(exchange, refusal)
    else if (hasBody) collectBody(request, bodyLength, (body) => answers.answer(operation, exchange, params, body))
    else answers.answer(operation, exchange, params, undefined)
    return true
  }

  const app = createFrameworkApp({
    operations,
    answers,
    load,
    headerNames: chainHeaders.names,
    bodyLimitBytes,
    beginExchange,
    onBrokenRequest: (status) => onAnswered?.({ method: '', url: '', route: 'unreadable', status, seconds: 0 }),
    serverFactory(handleByFramework) {
      const options = {
        maxHeaderSize: MAX_HEADER_BYTES,
        headersTimeout: requestTimeoutMs,
        requestTimeout: requestTimeoutMs,
        keepAliveTimeout: 0,
        // Since Node 24.12. Spares the stream of a body that is not there: 6 % of a `GET`.
        optimizeEmptyRequests: true,
        connectionsCheckingInterval: Math.min(requestTimeoutMs, 5_000),
      }
      return createServer(options, (request, response) => {
        if (isClosing || !handlePlainRequest(request, response)) handleByFramework(request, response)
      })
    },
  })
  app.server.maxConnections = maxConnections
  dropIdleConnections(app.server, idleTimeoutMs)
  app.addHook('preClose', async () => {
    isClosing = true
  })
  app.addHook('onClose', async () => load.close())
  return app
}
