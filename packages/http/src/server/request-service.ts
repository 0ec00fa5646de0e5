import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import type { Ledger } from '@ledger-state/ledger'
import { createDocumentRoutes } from '../document/document-routes.js'
import { clientLeft, overloaded } from '../errors.js'
import type { Route } from '../operations/operation.js'
import { BATCH_LIMITS } from '../protocol/json-body.js'
import { refuse, sendAnswer, sendError, sendHeaders, settle } from './answer-writer.js'
import { createChainHeaders } from './chain-headers.js'
import { createCorsHeaders, isPreflight, preflightHeaders } from './cors.js'
import { createOperations } from './create-operations.js'
import { Exchange, type ServiceContext } from './exchange.js'
import { framingFault } from './framing-fault.js'
import { Intake } from './intake.js'
import { LoadShedder } from './load-shedder.js'
import { createBodyReader, readOver } from './read-body.js'
import { routeOverRemote } from './remote-routes.js'
import type { RequestListenerOptions } from './request-listener-options.js'
import { createRouter, type Router } from './router.js'
import { TurnQueue } from './turn-queue.js'
import { createUnpack } from './unpack.js'
import { Uploads } from './uploads.js'

/** Requests up to this size are answered at once; the work on longer ones waits for its turn. */
const SMALL_REQUEST_BYTES = 2_048
const CONCURRENT_DECOMPRESSIONS = 4

/** Empty once the connection is closed: collections of the young generation free neither a closed socket nor the values of a WeakMap. */
interface Connection {
  last: Exchange | undefined
}

/** The service without its sockets: takes each request from its headers to its answer. */
export class RequestService {
  readonly context: ServiceContext
  /** Undefined where it is remote. */
  readonly #ledger: Ledger | undefined
  readonly #router: Router
  readonly #intake: Intake
  readonly #readBody: (exchange: Exchange) => void
  readonly #otherRequests: RequestListenerOptions['otherRequests']
  readonly #connections = new WeakMap<Socket, Connection>()

  /**
   * @param isClosing whether connections are to be closed after their next answer
   * @throws `chain_id_too_large`
   */
  constructor(
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
      examples = {},
      otherRequests,
      onUnexpectedError = () => {},
      onAnswered,
    }: RequestListenerOptions,
    isClosing = () => false,
  ) {
    const chainHeaders = createChainHeaders(headerWord)
    if (ledger.info) chainHeaders.of(ledger.info)
    const uploadLimits = { maxUploads, maxUploadBytes: Math.max(maxUploadBytes, 2 * bodyLimitBytes) }
    this.context = {
      ledger,
      output,
      chainHeaders,
      corsHeaders: createCorsHeaders([
        ...chainHeaders.names,
        chainHeaders.cursorName,
        chainHeaders.completeName,
        chainHeaders.readVersionName,
      ]),
      archivalEndpoint,
      turns: new TurnQueue(),
      load: new LoadShedder({ maxRequestsInFlight, maxAnswerBytes, maxEventLoopDelayMs }),
      uploads: new Uploads(uploadLimits, (exchange) => refuse(exchange, overloaded())),
      isClosing,
      onUnexpectedError,
      onAnswered,
    }
    const remote = 'read' in ledger ? ledger : undefined
    this.#ledger = 'read' in ledger ? undefined : ledger
    const operations = createOperations(headerWord, archivalEndpoint)
    const served = remote ? operations.map((operation) => routeOverRemote(operation, remote)) : operations
    this.#router = createRouter([...served, ...createDocumentRoutes(operations, chainHeaders, examples)], {
      '/v1/': '/v1',
    })
    this.#otherRequests = otherRequests
    this.#intake = new Intake(this.context.turns)
    this.#readBody = createBodyReader({
      bodyLimitBytes,
      uploads: this.context.uploads,
      intake: this.#intake,
      unpack: createUnpack(Math.min(bodyLimitBytes, BATCH_LIMITS.bytes), CONCURRENT_DECOMPRESSIONS),
      onBody: (exchange) => this.#answerInTurn(exchange, exchange.body.length, performance.now()),
      onError: sendError,
    })
  }

  begin(request: IncomingMessage, response: ServerResponse): Exchange {
    const exchange = new Exchange(request, response, this.context, this.#ledger)
    const connection = this.#connections.get(request.socket)
    if (connection) connection.last = exchange
    else this.#rememberConnection(request.socket, { last: exchange })
    return exchange
  }

  /** The newest exchange of a connection. */
  lastExchange(socket: Socket): Exchange | undefined {
    return this.#connections.get(socket)?.last
  }

  handle(exchange: Exchange): void {
    const { request } = exchange
    const fault = framingFault(request)
    if (fault) {
      refuse(exchange, fault)
      return
    }
    if (this.#otherRequests && isElsewhere(request.url!) && this.#isAnsweredElsewhere(exchange)) return
    const route = this.#findRoute(exchange)
    if (route?.method === 'POST') {
      endWithResponse(exchange)
      this.#readBody(exchange)
      return
    }
    if (!request.readableEnded) readOver(request, this.#intake)
    if (route) this.#answerInTurn(exchange, request.url!.length, exchange.arrivedAt)
  }

  #rememberConnection(socket: Socket, connection: Connection): void {
    this.#connections.set(socket, connection)
    socket.once('close', () => {
      connection.last = undefined
    })
  }

  #isAnsweredElsewhere(exchange: Exchange): boolean {
    const { request, response } = exchange
    response.shouldKeepAlive &&= !this.context.isClosing()
    if (!this.#otherRequests!(request, response)) return false
    if (!request.readableEnded) readOver(request, this.#intake)
    settle(exchange, response.statusCode, 0)
    return true
  }

  /** Answers the request where it has no route. */
  #findRoute(exchange: Exchange): Route | undefined {
    const { request } = exchange
    try {
      if (isPreflight(request)) {
        sendHeaders(exchange, preflightHeaders(request))
        return undefined
      }
      const { route, params } = this.#router.find(request.method!, request.url!)
      exchange.route = route
      exchange.params = params
      return route
    } catch (error) {
      sendError(exchange, error)
      return undefined
    }
  }

  /** At once, where the request is small and others have left time of this turn. Refuses it under too much load. */
  #answerInTurn(exchange: Exchange, length: number, began: number): void {
    const { load, turns } = this.context
    const { answersUnderLoad, method } = exchange.route!
    const refusal = answersUnderLoad ? undefined : load.refusal()
    if (refusal) {
      sendError(exchange, refusal)
      return
    }
    if (method === 'POST') enterFlight(exchange)
    if (length > SMALL_REQUEST_BYTES || turns.isSpent) turns.run(() => answer(exchange))
    else {
      answer(exchange)
      turns.spend((exchange.isAnswered ? exchange.answeredAt : performance.now()) - began)
    }
  }
}

function answer(exchange: Exchange): void {
  if (exchange.isAnswered) return
  const route = exchange.route!
  try {
    const found = route.handle(exchange)
    if (!(found instanceof Promise)) {
      sendAnswer(exchange, found)
      return
    }
    if (route.method !== 'POST') {
      enterFlight(exchange)
      endWithResponse(exchange)
    }
    found.then((late) => sendAnswer(exchange, late)).catch((error) => sendError(exchange, error))
  } catch (error) {
    sendError(exchange, error)
  }
}

function enterFlight(exchange: Exchange): void {
  exchange.context.load.enter()
  exchange.isInFlight = true
}

function endWithResponse(exchange: Exchange): void {
  // Emitted once for every response, whether it went out whole or the client left.
  exchange.response.on('close', () => {
    if (exchange.isInFlight) exchange.context.load.leave()
    if (!exchange.isAnswered) sendError(exchange, clientLeft())
  })
}

/** Whether a target is a path that is neither `/v1` nor below it. */
function isElsewhere(target: string): boolean {
  return target.startsWith('/') && !/^\/v1(?:[/?]|$)/.test(target)
}
