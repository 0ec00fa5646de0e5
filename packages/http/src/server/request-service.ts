import type { IncomingMessage, ServerResponse } from 'node:http'
import { parseU64 } from '@ledger-state/core'
import { limitsOf } from '../admission/limits.js'
import { type BodyOutcomes, readBody, readOver } from '../admission/read-body.js'
import { createDocumentRoutes } from '../document/document-routes.js'
import { clientLeft, invalidRequest, type RequestError, versionUnsupported } from '../errors.js'
import { createForwardRoutes, routeWithForwarding } from '../forward/forward-routes.js'
import type { Forwarder } from '../forward/forwarder.js'
import { expectKnownParameters } from '../operations/parts/known-parameters.js'
import type { Route } from '../operations/parts/operation.js'
import { parsePart } from '../operations/parts/request-parts.js'
import { UNSERVED_ROUTES } from '../operations/unserved.js'
import { refuse, sendAnswer, sendError, sendHeaders, settle } from './answer-writer.js'
import { routeOverAsync } from './async-routes.js'
import { isPreflight, preflightHeaders } from './cors.js'
import { createOperations } from './create-operations.js'
import { Exchange, type ServiceContext } from './exchange.js'
import { createForwarder, newestNamedBy } from './forwarding.js'
import { DEFAULT_HEADER_WORD, type RequestListenerOptions } from './request-listener-options.js'
import { createRouter, type FoundRoute, type Router } from './router.js'
import { createServiceContext } from './service-context.js'

/** The service without its sockets: takes each request from its headers to its answer. */
export class RequestService {
  readonly context: ServiceContext
  readonly #router: Router
  readonly #forwarder: Forwarder | undefined
  readonly #otherRequests: RequestListenerOptions['otherRequests']

  /**
   * @param isClosing returns whether to close connections after their next answer
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
    const forwarder = options.forward && createForwarder(options.forward, this.context, limitsOf(options))
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

  /**
   * Begins an exchange.
   * @param awaitsContinue whether the client sends its body only after `100 Continue`
   */
  begin(request: IncomingMessage, response: ServerResponse, awaitsContinue = false): Exchange {
    const exchange = new Exchange(request, response, this.context, awaitsContinue)
    this.context.admission.pipelined.add(exchange)
    return exchange
  }

  /** Answers the request when the earlier answers on its connection were taken. */
  handle(exchange: Exchange): void {
    this.context.admission.pipelined.enqueue(exchange, this.#begin)
  }

  readonly #begin = (exchange: Exchange): void => {
    const { request } = exchange
    const fault = framingFault(request)
    if (fault) {
      refuse(exchange, fault)
      return
    }
    if (this.#isAnsweredElsewhere(exchange)) return
    const found = this.#findRoute(exchange)
    if (!found) {
      readOver(exchange.request, exchange.context.admission)
      return
    }
    const { route } = found
    const version = route.answersUnderLoad ? undefined : this.#minVersionOf(exchange)
    if (exchange.isAnswered) return
    if (version !== undefined && !this.context.admission.held.isServed(version)) this.#hold(exchange, route, version)
    else if (this.#forwarder) this.#awaitNamed(exchange, found, this.#forwarder)
    else this.#receive(exchange, route, exchange.arrivedAt)
  }

  /** @param onLate called if the version does not come in time */
  #hold(exchange: Exchange, route: Route, version: bigint, onLate?: () => void): void {
    this.context.admission.held.hold(exchange, version, () => this.#receive(exchange, route, performance.now()), onLate)
  }

  /** Holds a request for a version that is not served yet and that an upstream has. */
  #awaitNamed(exchange: Exchange, found: FoundRoute, forwarder: Forwarder): void {
    const { route } = found
    const version = newestNamedBy(found, exchange.query)
    if (version === undefined || this.context.admission.held.isServed(version)) {
      this.#receive(exchange, route, exchange.arrivedAt)
    } else if (forwarder.hasAnnounced(version)) this.#hold(exchange, route, version, forwarder.awaitAnnounced())
    else {
      void forwarder.has(version).then((isThere) => {
        if (exchange.response.destroyed) sendError(exchange, clientLeft())
        else if (isThere) this.#hold(exchange, route, version, forwarder.awaitAnnounced())
        else this.#receive(exchange, route, performance.now())
      })
    }
  }

  /** Reads the version that the client has seen. Answers the request if the header is not a version. */
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

  /**
   * Receives a request.
   * @param readyAt time at which the request could be received, in milliseconds of `performance.now`
   */
  #receive(exchange: Exchange, { method }: Route, readyAt: number): void {
    const { request } = exchange
    // The request was refused while it was held, because its body was broken.
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
    answerInTurn(exchange, exchange.awaitTurn(), request.url!.length, readyAt)
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

  /** Finds the route of a request. If there is none, answers the request and returns undefined. */
  #findRoute(exchange: Exchange): FoundRoute | undefined {
    const { request } = exchange
    try {
      if (request.method === 'OPTIONS' && isPreflight(request)) {
        sendHeaders(exchange, preflightHeaders(request))
        return undefined
      }
      const found = this.#router.find(request.method!, request.url!)
      exchange.takeRoute(found)
      const { query } = exchange
      if (query !== '') expectKnownParameters(found.route, query)
      return found
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
    answerInTurn(exchange, exchange.awaitTurn(body), body.length, performance.now())
  },
  fail: sendError,
  refuse,
}

/** Answers the request when it has a turn. Refuses it under too much load. */
function answerInTurn(exchange: Exchange, route: Route, bytes: number, readyAt: number): void {
  const { load, turns } = exchange.context.admission
  const refusal = load.admit(exchange.response, route)
  if (refusal) sendError(exchange, refusal)
  else turns.begin({ bytes, takesTurns: route.takesTurns, readyAt }, () => answer(exchange, route))
}

/**
 * Answers a request.
 * @returns the time at which it was answered or its operation began to wait, in milliseconds of `performance.now`
 */
function answer(exchange: Exchange, route: Route): number {
  if (!exchange.isAnswered) runOperation(exchange, route)
  const { state } = exchange
  return state.kind === 'answered' ? state.at : performance.now()
}

function runOperation(exchange: Exchange, route: Route): void {
  // The client left while this waited for its turn.
  if (exchange.response.destroyed) {
    sendError(exchange, clientLeft())
    return
  }
  const { ledger, admission } = exchange.context
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

/** Reason to doubt where a request ends, or that its client understands the answer; undefined if there is none. */
function framingFault({ httpVersion, headers, rawHeaders }: IncomingMessage): RequestError | undefined {
  if (httpVersion !== '1.1' && httpVersion !== '1.0') return versionUnsupported(httpVersion)
  if (headers.host === undefined && httpVersion === '1.1') return invalidRequest.hostMissing()
  if (hasTwoHosts(rawHeaders)) return invalidRequest.hostTwice()
  const transferEncoding = headers['transfer-encoding']
  if (transferEncoding === undefined || transferEncoding.toLowerCase() === 'chunked') return undefined
  return invalidRequest.transferEncodingUnsupported(transferEncoding)
}

/**
 * Whether a request has two hosts. Two servers on its way might each obey another one. `headers` has only the first.
 */
function hasTwoHosts(rawHeaders: readonly string[]): boolean {
  let count = 0
  for (let at = 0; at < rawHeaders.length; at += 2) {
    const name = rawHeaders[at]!
    if (name.length === 4 && name.toLowerCase() === 'host') count++
  }
  return count > 1
}

/** Whether a target is a path that is neither `/v1` nor below it. */
export function isElsewhere(target: string): boolean {
  if (!target.startsWith('/v1')) return target.startsWith('/')
  const next = target[3]
  return next !== undefined && next !== '/' && next !== '?'
}
