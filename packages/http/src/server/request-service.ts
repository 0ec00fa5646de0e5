import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import { parseU64 } from '@ledger-state/core'
import { HeldRequests } from '../admission/held-requests.js'
import { limitsOf } from '../admission/limits.js'
import { type BodyOutcomes, readBody, readOver } from '../admission/read-body.js'
import { createDocumentRoutes } from '../document/document-routes.js'
import { clientLeft } from '../errors.js'
import { createForwardRoutes, routeWithForwarding } from '../forward/forward-routes.js'
import type { Forwarder } from '../forward/forwarder.js'
import { expectKnownParameters } from '../operations/known-parameters.js'
import type { Route } from '../operations/operation.js'
import { parsePart } from '../operations/request-parts.js'
import { UNSERVED_ROUTES } from '../operations/unserved.js'
import { refuse, sendAnswer, sendError, sendHeaders, settle } from './answer-writer.js'
import { routeOverAsync } from './async-routes.js'
import { isPreflight, preflightHeaders } from './cors.js'
import { createOperations } from './create-operations.js'
import { Exchange, type ServiceContext } from './exchange.js'
import { createForwarder, newestNamedBy } from './forwarding.js'
import { framingFault } from './framing-fault.js'
import { DEFAULT_HEADER_WORD, type RequestListenerOptions } from './request-listener-options.js'
import { createRouter, type Router } from './router.js'
import { createServiceContext } from './service-context.js'

/** Requests up to this size are answered at once; the work on longer ones waits for its turn. */
export const SMALL_REQUEST_BYTES = 2_048

/** Most requests of one connection that wait for the answer before them; a connection that sends more is closed. */
export const MOST_WAITING = 1_000
/** Number of waiting requests at which the socket of a connection is paused. */
const MANY_WAITING = 32
/** Most requests that wait on all connections, at some 5 KB of memory each; a connection that adds one more is closed. */
export const MOST_WAITING_IN_ALL = 5_000

/** Empty once the connection is closed: collections of the young generation free neither a closed socket nor the values of a WeakMap. */
interface Connection {
  last: Exchange | undefined
  /** The exchange that is answered now, or was answered last. */
  current: Exchange | undefined
  /** Requests that were sent without waiting for the answer to that. Each begins when the answer before it was taken. */
  readonly waiting: Exchange[]
}

/** The service without its sockets: takes each request from its headers to its answer. */
export class RequestService {
  readonly context: ServiceContext
  readonly #router: Router
  readonly #held: HeldRequests
  readonly #forwarder: Forwarder | undefined
  readonly #otherRequests: RequestListenerOptions['otherRequests']
  readonly #connections = new WeakMap<Socket, Connection>()
  #waitingCount = 0

  /**
   * @param isClosing whether connections are to be closed after their next answer
   * @throws `chain_id_too_large`
   */
  constructor(options: RequestListenerOptions, isClosing = () => false) {
    const { ledger, headerWord = DEFAULT_HEADER_WORD, archivalEndpoint, examples = {}, otherRequests } = options
    const { leastGasEstimate = 0n } = options
    this.context = createServiceContext(options, isClosing)
    const { chainHeaders } = this.context
    if (ledger.info) chainHeaders.of(ledger.info)
    const asyncLedger = ledger.kind === 'async' ? ledger : undefined
    const operations = createOperations(
      headerWord,
      archivalEndpoint,
      leastGasEstimate,
      options.readTrust,
      options.network,
    )
    const served = asyncLedger ? operations.map((operation) => routeOverAsync(operation, asyncLedger)) : operations
    const limits = limitsOf(options)
    this.#held = new HeldRequests(limits, ledger)
    const forwarder = options.forward && createForwarder(options.forward, this.context, limits, this.#held)
    this.#forwarder = forwarder
    const routes = [
      ...(forwarder ? served.map((route) => routeWithForwarding(route, forwarder)) : served),
      ...UNSERVED_ROUTES,
      ...(forwarder ? createForwardRoutes(forwarder) : []),
      ...createDocumentRoutes(operations, chainHeaders, examples),
    ]
    this.#router = createRouter(routes, { '/v1/': '/v1' })
    this.#otherRequests = otherRequests
  }

  /** @param awaitsContinue whether the client sends its body only after `100 Continue` */
  begin(request: IncomingMessage, response: ServerResponse, awaitsContinue = false): Exchange {
    const exchange = new Exchange(request, response, this.context, awaitsContinue)
    const connection = this.#connections.get(request.socket) ?? this.#rememberConnection(request.socket)
    connection.last = exchange
    return exchange
  }

  /** The newest exchange of a connection. */
  lastExchange(socket: Socket): Exchange | undefined {
    return this.#connections.get(socket)?.last
  }

  /**
   * Answers the request when the answers before it on its connection were taken: a client that does not read them has one in
   * memory, however many requests it sends.
   */
  handle(exchange: Exchange): void {
    const { socket } = exchange.request
    const connection = this.#connections.get(socket)!
    const { current, waiting } = connection
    if (waiting.length === 0 && (!current || isTaken(current))) {
      connection.current = exchange
      this.#begin(exchange)
      return
    }
    if (waiting.length === 0) current!.response.once('close', () => this.#beginNext(connection))
    waiting.push(exchange)
    this.#waitingCount++
    if (waiting.length > MOST_WAITING || this.#waitingCount > MOST_WAITING_IN_ALL) socket.destroy()
    else if (waiting.length >= MANY_WAITING) socket.pause()
  }

  #beginNext(connection: Connection): void {
    const next = connection.waiting.shift()
    if (!next) return
    this.#waitingCount--
    connection.current = next
    if (connection.waiting.length > 0) next.response.once('close', () => this.#beginNext(connection))
    if (connection.waiting.length === MANY_WAITING - 1) next.request.socket.resume()
    if (!next.isAnswered) this.#begin(next)
  }

  #begin(exchange: Exchange): void {
    const { request } = exchange
    const fault = framingFault(request)
    if (fault) {
      refuse(exchange, fault)
      return
    }
    if (this.#isAnsweredElsewhere(exchange)) return
    const route = this.#findRoute(exchange)
    if (!route) {
      readOver(exchange.request, exchange.context.admission)
      return
    }
    const version = route.answersUnderLoad ? undefined : this.#minVersionOf(exchange)
    if (exchange.isAnswered) return
    if (version !== undefined && !this.#held.isServed(version)) this.#hold(exchange, version)
    else if (this.#forwarder) this.#awaitNamed(exchange, this.#forwarder)
    else this.#receive(exchange, route, exchange.arrivedAt)
  }

  #hold(exchange: Exchange, version: bigint): void {
    this.#held.hold(version, {
      isGone: () => exchange.response.destroyed,
      proceed: () => this.#receive(exchange, exchange.route!, performance.now()),
      refuse: (error) => refuse(exchange, error),
    })
  }

  /** Holds a request for a version that is not served yet, and that an upstream has. */
  #awaitNamed(exchange: Exchange, forwarder: Forwarder): void {
    const version = newestNamedBy(exchange)
    if (version === undefined || this.#held.isServed(version)) {
      this.#receive(exchange, exchange.route!, exchange.arrivedAt)
    } else if (forwarder.hasAnnounced(version)) this.#hold(exchange, version)
    else {
      void forwarder.has(version).then((isThere) => {
        if (exchange.response.destroyed) sendError(exchange, clientLeft())
        else if (isThere) this.#hold(exchange, version)
        else this.#receive(exchange, exchange.route!, performance.now())
      })
    }
  }

  /** Reads the version that the client was shown. Answers the request where the header is not a version. */
  #minVersionOf(exchange: Exchange): bigint | undefined {
    const { minVersionName } = this.context.chainHeaders
    const header = exchange.request.headers[minVersionName]
    if (header === undefined) return undefined
    try {
      return parsePart(`header \`${minVersionName}\``, () => parseU64(String(header)))
    } catch (error) {
      readOver(exchange.request, exchange.context.admission)
      sendError(exchange, error)
      return undefined
    }
  }

  /** @param began when the work on it began, in milliseconds of `performance.now` */
  #receive(exchange: Exchange, { method }: Route, began: number): void {
    const { request } = exchange
    // Refused while it was held, because its body was broken.
    if (exchange.isAnswered) {
      readOver(request, this.context.admission)
      return
    }
    if (method === 'POST') {
      endWithResponse(exchange)
      readBody(exchange, this.context.admission, BODY_OUTCOMES)
      return
    }
    readOver(exchange.request, exchange.context.admission)
    answerInTurn(exchange, request.url!.length, began)
  }

  #rememberConnection(socket: Socket): Connection {
    const connection: Connection = { last: undefined, current: undefined, waiting: [] }
    this.#connections.set(socket, connection)
    socket.once('close', () => {
      connection.last = undefined
      connection.current = undefined
      const waiting = connection.waiting.splice(0)
      this.#waitingCount -= waiting.length
      for (const exchange of waiting) sendError(exchange, clientLeft())
    })
    return connection
  }

  #isAnsweredElsewhere(exchange: Exchange): boolean {
    const { request, response } = exchange
    if (!this.#otherRequests || !isElsewhere(request.url!)) return false
    response.shouldKeepAlive &&= !this.context.isClosing()
    if (!this.#otherRequests(request, response)) return false
    readOver(exchange.request, exchange.context.admission)
    settle(exchange, response.statusCode)
    return true
  }

  /** Finds the route of a request. Answers the request where it has none, and returns undefined. */
  #findRoute(exchange: Exchange): Route | undefined {
    const { request } = exchange
    try {
      if (request.method === 'OPTIONS' && isPreflight(request)) {
        sendHeaders(exchange, preflightHeaders(request))
        return undefined
      }
      const { route, params } = this.#router.find(request.method!, request.url!)
      exchange.route = route
      exchange.params = params
      const { query } = exchange
      if (query !== '') expectKnownParameters(route, query)
      return route
    } catch (error) {
      sendError(exchange, error)
      return undefined
    }
  }
}

const BODY_OUTCOMES: BodyOutcomes<Exchange> = {
  onUpload(exchange, upload) {
    exchange.receive(upload)
  },
  onBody(exchange, body) {
    if (exchange.state.kind === 'receiving') exchange.awaitTurn(body)
    answerInTurn(exchange, body.length, performance.now())
  },
  fail: sendError,
  refuse,
}

/**
 * Answers at once where the request is small and others have left time of this turn. Refuses it under too much load.
 */
function answerInTurn(exchange: Exchange, length: number, began: number): void {
  const { load, turns } = exchange.context.admission
  const { answersUnderLoad, method, takesTurns } = exchange.route!
  const refusal = answersUnderLoad ? undefined : load.refusal()
  if (refusal) {
    sendError(exchange, refusal)
    return
  }
  if (method === 'POST') load.enter(exchange.response)
  if (takesTurns || length > SMALL_REQUEST_BYTES) turns.run(() => answer(exchange))
  else if (turns.isSpent) turns.runSmall(() => answer(exchange))
  else {
    answer(exchange)
    const { state } = exchange
    turns.spend((state.kind === 'answered' ? state.at : performance.now()) - began)
  }
}

function answer(exchange: Exchange): void {
  if (exchange.isAnswered) return
  // The client left while this waited for its turn.
  if (exchange.response.destroyed) {
    sendError(exchange, clientLeft())
    return
  }
  const { ledger, admission } = exchange.context
  const route = exchange.route!
  exchange.run(ledger.kind === 'async' ? undefined : ledger)
  try {
    const found = route.handle(exchange)
    if (!(found instanceof Promise)) {
      sendAnswer(exchange, found)
      return
    }
    if (route.method !== 'POST') {
      admission.load.enter(exchange.response)
      endWithResponse(exchange)
    }
    found.then((late) => sendAnswer(exchange, late)).catch((error) => sendError(exchange, error))
  } catch (error) {
    sendError(exchange, error)
  }
}

function endWithResponse(exchange: Exchange): void {
  // Emitted once for every response, whether it went out whole or the client left.
  exchange.response.on('close', () => {
    if (!exchange.isAnswered) sendError(exchange, clientLeft())
  })
}

/** Whether an answer is with the system, and its connection has turned to the next. */
function isTaken({ response }: Exchange): boolean {
  return response.writableFinished && response.socket === null
}

/** Whether a target is a path that is neither `/v1` nor below it. */
export function isElsewhere(target: string): boolean {
  if (!target.startsWith('/v1')) return target.startsWith('/')
  const next = target[3]
  return next !== undefined && next !== '/' && next !== '?'
}
