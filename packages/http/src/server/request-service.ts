import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import { createDocumentRoutes } from '../document/document-routes.js'
import { clientLeft, overloaded, type RequestError } from '../errors.js'
import type { Route } from '../operations/operation.js'
import { BATCH_LIMITS } from '../protocol/json-body.js'
import { type Answered, AnswerWriter } from './answer-writer.js'
import { createChainHeaders } from './chain-headers.js'
import { createCorsHeaders, isPreflight, preflightHeaders } from './cors.js'
import { createOperations } from './create-operations.js'
import { Exchange, type ExchangeContext } from './exchange.js'
import { framingFault } from './framing-fault.js'
import { LoadShedder } from './load-shedder.js'
import { createBodyReader, readOver } from './read-body.js'
import type { RequestListenerOptions } from './request-listener-options.js'
import { createRouter, type Router } from './router.js'
import { TurnQueue } from './turn-queue.js'
import { createUnpack } from './unpack.js'
import { Uploads } from './uploads.js'

/** Requests up to this size are answered at once; the work on longer ones waits for its turn. */
const SMALL_REQUEST_BYTES = 2_048
/** Answers from this size on are counted while their clients read them. */
const LARGE_ANSWER_BYTES = 16_384
const CONCURRENT_DECOMPRESSIONS = 4

/** The service without its sockets: takes each request from its headers to its answer. */
export class RequestService {
  readonly answers: AnswerWriter
  readonly #router: Router
  readonly #load: LoadShedder
  readonly #uploads: Uploads<Exchange>
  readonly #turns = new TurnQueue()
  readonly #context: ExchangeContext
  readonly #readBody: (exchange: Exchange) => void
  readonly #onAnswered: ((answered: Answered) => void) | undefined
  readonly #otherRequests: RequestListenerOptions['otherRequests']
  readonly #isClosing: () => boolean
  readonly #connections = new WeakMap<Socket, { last: Exchange }>()

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
      otherRequests,
      onUnexpectedError = () => {},
      onAnswered,
    }: RequestListenerOptions,
    isClosing = () => false,
  ) {
    const chainHeaders = createChainHeaders(headerWord)
    if (ledger.info) chainHeaders.of(ledger.info)
    const operations = createOperations(headerWord, archivalEndpoint)
    const routes = [...operations, ...createDocumentRoutes(operations, chainHeaders)]
    this.#router = createRouter(routes, { '/v1/': '/v1' })
    this.#load = new LoadShedder({ maxRequestsInFlight, maxAnswerBytes, maxEventLoopDelayMs })
    const uploadLimits = { maxUploads, maxUploadBytes: Math.max(maxUploadBytes, 2 * bodyLimitBytes) }
    this.#uploads = new Uploads(uploadLimits, (exchange) => this.refuse(exchange, overloaded()))
    this.#context = { ledger, output, turns: this.#turns, load: this.#load }
    this.#onAnswered = onAnswered
    this.#otherRequests = otherRequests
    this.#isClosing = isClosing
    this.answers = new AnswerWriter({
      ledger,
      chainHeaders,
      corsHeaders: createCorsHeaders([
        ...chainHeaders.names,
        chainHeaders.cursorName,
        chainHeaders.completeName,
        chainHeaders.readVersionName,
      ]),
      archivalEndpoint,
      isClosing,
      onUnexpectedError,
      onAnswered: (exchange, status) => this.#settle(exchange, status),
    })
    this.#readBody = createBodyReader({
      bodyLimitBytes,
      uploads: this.#uploads,
      turns: this.#turns,
      unpack: createUnpack(Math.min(bodyLimitBytes, BATCH_LIMITS.bytes), CONCURRENT_DECOMPRESSIONS),
      onBody: (exchange) => {
        if (this.#isAdmitted(exchange)) this.#answerInTurn(exchange, exchange.body.length, performance.now())
      },
      onError: (exchange, error) => this.answers.sendError(exchange, error),
    })
  }

  begin(request: IncomingMessage, response: ServerResponse): Exchange {
    const exchange = new Exchange(request, response, this.#context)
    const connection = this.#connections.get(request.socket)
    if (connection) connection.last = exchange
    else this.#connections.set(request.socket, { last: exchange })
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
      this.refuse(exchange, fault)
      return
    }
    if (this.#otherRequests && isElsewhere(request.url!) && this.#answersOther(exchange)) return
    const route = this.#findRoute(exchange)
    if (route?.method !== 'POST' && !request.readableEnded) readOver(request, this.#turns)
    if (!route) return
    if (route.method === 'POST') {
      this.#endWithResponse(exchange)
      this.#readBody(exchange)
    } else if (this.#isAdmitted(exchange)) this.#answerInTurn(exchange, request.url!.length, exchange.arrivedAt)
  }

  /** Answers a request with an error and closes its connection. */
  refuse(exchange: Exchange, error: RequestError): void {
    exchange.isLast = true
    this.answers.sendError(exchange, error)
  }

  /** Tells of an answer to what never became a request. */
  tellUnreadable(status: number): void {
    this.#onAnswered?.({ method: '', url: '', route: 'unreadable', status, seconds: 0 })
  }

  #answersOther(exchange: Exchange): boolean {
    const { request, response } = exchange
    response.shouldKeepAlive &&= !this.#isClosing()
    if (!this.#otherRequests!(request, response)) return false
    if (!request.readableEnded) readOver(request, this.#turns)
    exchange.isAnswered = true
    this.#settle(exchange, response.statusCode)
    return true
  }

  /** Answers the request where it has no route. */
  #findRoute(exchange: Exchange): Route | undefined {
    const { request } = exchange
    try {
      if (isPreflight(request)) {
        this.answers.sendHeaders(exchange, preflightHeaders(request))
        return undefined
      }
      const { route, params } = this.#router.find(request.method!, request.url!)
      exchange.route = route
      exchange.params = params
      return route
    } catch (error) {
      this.answers.sendError(exchange, error)
      return undefined
    }
  }

  /** Answers the request where it is refused. */
  #isAdmitted(exchange: Exchange): boolean {
    const route = exchange.route!
    const refusal = route.answersUnderLoad ? undefined : this.#load.refusal()
    if (refusal) {
      this.answers.sendError(exchange, refusal)
      return false
    }
    if (route.method === 'POST') this.#enterFlight(exchange)
    return true
  }

  /** At once, where the request is small and others have left time of this turn. */
  #answerInTurn(exchange: Exchange, length: number, began: number): void {
    const turns = this.#turns
    if (length > SMALL_REQUEST_BYTES || turns.isSpent) turns.run(() => this.#answer(exchange))
    else {
      this.#answer(exchange)
      turns.spend((exchange.isAnswered ? exchange.answeredAt : performance.now()) - began)
    }
  }

  #answer(exchange: Exchange): void {
    if (exchange.isAnswered) return
    try {
      const found = exchange.route!.handle(exchange)
      if (!(found instanceof Promise)) {
        this.answers.send(exchange, found)
        return
      }
      if (exchange.route!.method !== 'POST') {
        this.#enterFlight(exchange)
        this.#endWithResponse(exchange)
      }
      found.then((late) => this.answers.send(exchange, late)).catch((error) => this.answers.sendError(exchange, error))
    } catch (error) {
      this.answers.sendError(exchange, error)
    }
  }

  #enterFlight(exchange: Exchange): void {
    this.#load.enter()
    exchange.isInFlight = true
  }

  #endWithResponse(exchange: Exchange): void {
    // Emitted once for every response, whether it went out whole or the client left.
    exchange.response.once('close', () => {
      if (exchange.isInFlight) this.#load.leave()
      if (!exchange.isAnswered) this.answers.sendError(exchange, clientLeft())
    })
  }

  #settle(exchange: Exchange, status: number): void {
    this.#uploads.release(exchange)
    exchange.releaseBody()
    this.#load.release(exchange.builtBytes)
    this.#holdAnswer(exchange)
    const { request, route, arrivedAt } = exchange
    exchange.answeredAt = performance.now()
    this.#onAnswered?.({
      method: request.method!,
      url: request.url!,
      route: route?.path ?? 'other',
      status,
      seconds: (exchange.answeredAt - arrivedAt) / 1_000,
    })
  }

  /** Counts a large answer until it went out. */
  #holdAnswer({ response, answerBytes }: Exchange): void {
    if (answerBytes < LARGE_ANSWER_BYTES) return
    this.#load.hold(answerBytes)
    response.once('close', () => this.#load.release(answerBytes))
  }
}

/** Whether a target is a path that is neither `/v1` nor below it. */
function isElsewhere(target: string): boolean {
  return target.startsWith('/') && !/^\/v1(?:[/?]|$)/.test(target)
}
