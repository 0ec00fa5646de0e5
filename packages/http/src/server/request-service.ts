import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import type { Ledger } from '@ledger-state/ledger'
import { createDocumentRoutes } from '../document/document-routes.js'
import {
  clientLeft,
  hostMissing,
  overloaded,
  type RequestError,
  transferEncodingUnsupported,
  versionUnsupported,
} from '../errors.js'
import { getAccount } from '../operations/account.js'
import { getAccountBalance } from '../operations/account-balance.js'
import { getAccountChanges } from '../operations/account-changes.js'
import { getAccountModule } from '../operations/account-module.js'
import { getAccountModules } from '../operations/account-modules.js'
import { getAccountResource } from '../operations/account-resource.js'
import { getAccountResources } from '../operations/account-resources.js'
import { createBatchOperations } from '../operations/batch.js'
import { getBlockByHeight, getBlockByVersion } from '../operations/blocks.js'
import { createHealthOperation } from '../operations/health.js'
import {
  getBalanceHistory,
  getRawTableItemHistory,
  getResourceHistory,
  getTableItemHistory,
} from '../operations/histories.js'
import { getLedgerInfo } from '../operations/ledger-info.js'
import type { Route } from '../operations/operation.js'
import { getRawTableItem } from '../operations/raw-table-item.js'
import { getTableItem } from '../operations/table-item.js'
import { getTableItems } from '../operations/table-items.js'
import { callView } from '../operations/view.js'
import { BATCH_LIMITS } from '../protocol/json-body.js'
import type { OutputFormat } from '../protocol/media-types.js'
import { type Answered, createAnswerWriter } from './answer-writer.js'
import { createChainHeaders } from './chain-headers.js'
import { createCorsHeaders, isPreflight, preflightHeaders } from './cors.js'
import { Exchange, type ExchangeContext } from './exchange.js'
import { type LoadLimits, LoadShedder } from './load-shedder.js'
import { createBodyReader, readOver } from './read-body.js'
import { createRouter } from './router.js'
import { TurnQueue } from './turn-queue.js'
import { createUnpack } from './unpack.js'
import { type UploadLimits, Uploads } from './uploads.js'

export interface RequestListenerOptions extends Partial<LoadLimits>, Partial<UploadLimits> {
  readonly ledger: Ledger
  /** Word in the names of the chain-state headers: `x-<word>-ledger-version`. Default `svc`. */
  readonly headerWord?: string
  /** Formats that are answered with; both by default. */
  readonly output?: Readonly<Record<OutputFormat, boolean>>
  /** Largest request body, also after decompression; default 8 MiB. */
  readonly bodyLimitBytes?: number
  /** Absolute URL, ending in `/v1`, of a service that keeps versions which this one has pruned. */
  readonly archivalEndpoint?: string
  /** Told of faults of ours, which clients see as 500 without details. */
  readonly onUnexpectedError?: (error: unknown, request: { method: string; url: string }) => void
  /** Told of every answer when it is handed to its socket, and of clients that left before theirs. */
  readonly onAnswered?: (answered: Answered) => void
}

/** The service without its sockets. */
export interface RequestService {
  handle(request: IncomingMessage, response: ServerResponse): void
  /** As `handle`, for a client that sends its body only when it is told to: one that is refused does not send it. */
  handleExpecting(request: IncomingMessage, response: ServerResponse): void
  /** Answers a request with an error and closes its connection. */
  refuse(exchange: Exchange, error: RequestError): void
  begin(request: IncomingMessage, response: ServerResponse): Exchange
  /** The newest exchange of a connection. */
  lastExchange(socket: Socket): Exchange | undefined
  rawError: ReturnType<typeof createAnswerWriter>['rawError']
  /** Tells of an answer to what never became a request. */
  onUnreadable(status: number): void
}

/** Requests up to this size are answered at once; the work on longer ones waits for its turn. */
const SMALL_REQUEST_BYTES = 2_048
/** Answers from this size on are counted while their clients read them. */
const LARGE_ANSWER_BYTES = 16_384
const CONCURRENT_DECOMPRESSIONS = 4

/**
 * @param isClosing whether connections are to be closed after their next answer
 * @throws `chain_id_too_large`
 */
export function createRequestService(
  {
    ledger,
    headerWord = 'svc',
    output = { json: true, bcs: true },
    bodyLimitBytes = 8 * 1024 * 1024,
    maxRequestsInFlight = 2_000,
    maxAnswerBytes = 256 * 1024 * 1024,
    maxEventLoopDelayMs = 1_000,
    maxUploads = 5_000,
    maxUploadBytes = 64 * 1024 * 1024,
    archivalEndpoint,
    onUnexpectedError = () => {},
    onAnswered,
  }: RequestListenerOptions,
  isClosing = () => false,
): RequestService {
  const chainHeaders = createChainHeaders(headerWord)
  if (ledger.info) chainHeaders.of(ledger.info)
  const operations = [
    getTableItem,
    getRawTableItem,
    getAccountBalance,
    getAccount,
    getAccountResources,
    getAccountResource,
    getAccountModules,
    getAccountModule,
    getBlockByHeight,
    getBlockByVersion,
    callView,
    getTableItems,
    getBalanceHistory,
    getResourceHistory,
    getTableItemHistory,
    getRawTableItemHistory,
    getAccountChanges,
    ...createBatchOperations(archivalEndpoint),
    getLedgerInfo,
    createHealthOperation(headerWord),
  ]
  const router = createRouter([...operations, ...createDocumentRoutes(operations, chainHeaders)], {
    '/v1/': '/v1',
  })
  const load = new LoadShedder({ maxRequestsInFlight, maxAnswerBytes, maxEventLoopDelayMs })
  const uploadLimits = { maxUploads, maxUploadBytes: Math.max(maxUploadBytes, 2 * bodyLimitBytes) }
  const uploads = new Uploads<Exchange>(uploadLimits, (exchange) => refuse(exchange, overloaded()))
  const turns = new TurnQueue()
  const context: ExchangeContext = { ledger, output, turns }
  const connections = new WeakMap<Socket, { last: Exchange }>()

  const answers = createAnswerWriter({
    ledger,
    chainHeaders,
    corsHeaders: createCorsHeaders([...chainHeaders.names, chainHeaders.cursorName, chainHeaders.completeName]),
    archivalEndpoint,
    isClosing,
    onUnexpectedError,
    onAnswered(exchange, status) {
      uploads.release(exchange)
      exchange.releaseBody()
      holdAnswer(exchange)
      exchange.answeredAt = performance.now()
      onAnswered?.({
        method: exchange.request.method!,
        url: exchange.request.url!,
        route: exchange.route?.path ?? 'other',
        status,
        seconds: (exchange.answeredAt - exchange.arrivedAt) / 1_000,
      })
    },
  })
  const readBody = createBodyReader({
    bodyLimitBytes,
    uploads,
    turns,
    unpack: createUnpack(Math.min(bodyLimitBytes, BATCH_LIMITS.bytes), CONCURRENT_DECOMPRESSIONS),
    onBody(exchange) {
      if (isAdmitted(exchange)) answerInTurn(exchange, exchange.body.length, performance.now())
    },
    onError: answers.sendError,
  })

  function begin(request: IncomingMessage, response: ServerResponse): Exchange {
    const exchange = new Exchange(request, response, context)
    const connection = connections.get(request.socket)
    if (connection) connection.last = exchange
    else connections.set(request.socket, { last: exchange })
    return exchange
  }

  function handle(exchange: Exchange): void {
    const { request } = exchange
    const fault = framingFault(request)
    if (fault) {
      refuse(exchange, fault)
      return
    }
    const route = findRoute(exchange)
    if (route?.method !== 'POST' && !request.readableEnded) readOver(request, turns)
    if (!route) return
    if (route.method === 'POST') {
      endWithResponse(exchange)
      readBody(exchange)
    } else if (isAdmitted(exchange)) answerInTurn(exchange, request.url!.length, exchange.arrivedAt)
  }

  /** Answers the request where it has no route. */
  function findRoute(exchange: Exchange): Route | undefined {
    const { request } = exchange
    try {
      if (isPreflight(request)) {
        answers.sendHeaders(exchange, preflightHeaders(request))
        return undefined
      }
      const { route, params } = router.find(request.method!, request.url!)
      exchange.route = route
      exchange.params = params
      return route
    } catch (error) {
      answers.sendError(exchange, error)
      return undefined
    }
  }

  function endWithResponse(exchange: Exchange): void {
    // Emitted once for every response, whether it went out whole or the client left.
    exchange.response.once('close', () => {
      if (exchange.isInFlight) load.leave()
      if (!exchange.isAnswered) answers.sendError(exchange, clientLeft())
    })
  }

  function enterFlight(exchange: Exchange): void {
    load.enter()
    exchange.isInFlight = true
  }

  /** Counts a large answer until it went out. */
  function holdAnswer({ response, answerBytes }: Exchange): void {
    if (answerBytes < LARGE_ANSWER_BYTES) return
    load.hold(answerBytes)
    response.once('close', () => load.release(answerBytes))
  }

  function isAdmitted(exchange: Exchange): boolean {
    const route = exchange.route!
    const refusal = route.answersUnderLoad ? undefined : load.refusal()
    if (refusal) {
      answers.sendError(exchange, refusal)
      return false
    }
    if (route.method === 'POST') enterFlight(exchange)
    return true
  }

  /** At once, where the request is small and others have left time of this turn. */
  function answerInTurn(exchange: Exchange, length: number, began: number): void {
    if (length > SMALL_REQUEST_BYTES || turns.isSpent) turns.run(() => answer(exchange))
    else {
      answer(exchange)
      turns.spend((exchange.isAnswered ? exchange.answeredAt : performance.now()) - began)
    }
  }

  function answer(exchange: Exchange): void {
    if (exchange.isAnswered) return
    try {
      const found = exchange.route!.handle(exchange)
      if (!(found instanceof Promise)) answers.send(exchange, found)
      else {
        if (exchange.route!.method !== 'POST') {
          enterFlight(exchange)
          endWithResponse(exchange)
        }
        found.then((late) => answers.send(exchange, late)).catch((error) => answers.sendError(exchange, error))
      }
    } catch (error) {
      answers.sendError(exchange, error)
    }
  }

  function refuse(exchange: Exchange, error: RequestError): void {
    exchange.isLast = true
    answers.sendError(exchange, error)
  }

  return {
    handle: (request, response) => handle(begin(request, response)),
    handleExpecting(request, response) {
      const exchange = begin(request, response)
      exchange.awaitsContinue = true
      handle(exchange)
    },
    refuse,
    begin,
    lastExchange: (socket) => connections.get(socket)?.last,
    rawError: answers.rawError,
    onUnreadable: (status) => onAnswered?.({ method: '', url: '', route: 'unreadable', status, seconds: 0 }),
  }
}

/** What makes a request one that cannot be answered with certainty about its limits. */
function framingFault({ httpVersion, headers }: IncomingMessage): RequestError | undefined {
  if (httpVersion !== '1.1' && httpVersion !== '1.0') return versionUnsupported(httpVersion)
  if (headers.host === undefined && httpVersion === '1.1') return hostMissing()
  const transferEncoding = headers['transfer-encoding']
  if (transferEncoding === undefined || transferEncoding.toLowerCase() === 'chunked') return undefined
  return transferEncodingUnsupported(transferEncoding)
}
