import type { IncomingMessage, ServerResponse } from 'node:http'
import { parseU64 } from '@ledger-state/core'
import { limitsOf } from '../admission/limits.js'
import { versionPlace } from '../admission/near-place.js'
import { isSmallBody, readBody, readOver, takeWholeBody } from '../admission/read-body.js'
import { createDocumentRoutes } from '../document/document-routes.js'
import { clientLeft, unreadableRequest } from '../errors.js'
import { createForwardRoutes, routeWithForwarding } from '../forward/forward-routes.js'
import type { Forwarder } from '../forward/forwarder.js'
import { expectKnownParameters } from '../operations/parts/known-parameters.js'
import type { Route } from '../operations/parts/operation.js'
import { placeOfCursor } from '../operations/parts/page-start.js'
import { parsePart } from '../operations/parts/request-parts.js'
import type { SeenPlace } from '../operations/parts/seen-place.js'
import { UNSERVED_ROUTES } from '../operations/parts/unserved.js'
import { sendAnswer, sendError, sendHeaders, settle } from './answer-writer.js'
import { routeOverAsync } from './async-routes.js'
import { isPreflight, preflightHeaders } from './cors.js'
import { createOperations } from './create-operations.js'
import { Exchange, type ServiceContext } from './exchange.js'
import { createForwarder, newestNamedBy } from './forwarding.js'
import { expectFraming } from './framing.js'
import { timeNamedBy } from './named-times.js'
import { DEFAULT_HEADER_WORD, type RequestListenerOptions } from './request-listener-options.js'
import { createRouter, type FoundRoute, type Router } from './router.js'
import { routeWithSecondLook } from './second-look.js'
import { createServiceContext } from './service-context.js'

/** Time for which a reader may be behind the one that sent an id. */
const MOST_LAG_MS = 1_000

/** A step of a request. Returns a promise if it has to wait. */
type Step = (exchange: Exchange) => Promise<void> | undefined

/** The service without its sockets: takes each request from its headers to its answer. */
export class RequestService {
  readonly context: ServiceContext
  readonly #router: Router
  readonly #forwarder: Forwarder | undefined
  readonly #spreadMs: number
  readonly #otherRequests: RequestListenerOptions['otherRequests']

  /**
   * @param isClosing returns whether to close connections after their next answer
   * @throws `chain_id_too_large`
   */
  constructor(options: RequestListenerOptions, isClosing = () => false) {
    const { ledger, headerWord = DEFAULT_HEADER_WORD, archivalEndpoint, examples = {}, otherRequests } = options
    const { leastGasEstimate = 0n, spreadMs = 0 } = options
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
    const served = operations
      .map((operation) => (asyncLedger ? routeOverAsync(operation, asyncLedger) : operation))
      .map(routeWithSecondLook)
    const forwarder = options.forward && createForwarder(options.forward, this.context, limitsOf(options), spreadMs)
    this.#forwarder = forwarder
    this.#spreadMs = spreadMs
    const routes = [
      ...(forwarder ? served.map((route) => routeWithForwarding(route, forwarder)) : served),
      ...UNSERVED_ROUTES,
      ...(forwarder ? createForwardRoutes(forwarder) : []),
      ...createDocumentRoutes(operations, chainHeaders, examples),
    ]
    this.#router = createRouter(routes)
    this.#otherRequests = otherRequests
  }

  /**
   * Begins an exchange.
   * @param awaitsContinue whether the client sends its body only after `100 Continue`
   */
  begin(request: IncomingMessage, response: ServerResponse, awaitsContinue = false): Exchange {
    const exchange = new Exchange(request, response, this.context, awaitsContinue)
    exchange.connection.newest = exchange
    return exchange
  }

  /**
   * Answers a request. A step calls the next one, returns a promise only if it has to wait, and throws if it refuses the
   * request: a small one runs from here to its socket without any promise, which costs more than a look-up.
   */
  handle(exchange: Exchange): void {
    const earlier = this.context.pipelined.enter(exchange)
    this.#run(exchange, earlier ? (one) => after(earlier, one, this.#begin) : this.#begin)
  }

  /** The error for a method that no route has. */
  refusalOf(method: string, target: string): unknown {
    try {
      this.#router.find(method, target)
    } catch (error) {
      return error
    }
    return unreadableRequest()
  }

  #run(exchange: Exchange, step: Step): void {
    try {
      step(exchange)?.catch((error: unknown) => this.#refuse(exchange, error))
    } catch (error) {
      this.#refuse(exchange, error)
    }
  }

  #refuse(exchange: Exchange, error: unknown): void {
    readOver(exchange.request, this.context.admission)
    sendError(exchange, error)
  }

  readonly #begin: Step = (exchange) => {
    expectFraming(exchange.request)
    if (this.#isAnsweredElsewhere(exchange) || answersPreflight(exchange)) return undefined
    const version = this.#awaitVersion(exchange, this.#findRoute(exchange))
    return version ? after(version, exchange, this.#receive) : this.#receive(exchange)
  }

  /** Receives the body of a POST. Any other body is discarded. */
  readonly #receive: Step = (exchange) => {
    const { admission } = this.context
    if (exchange.route!.method !== 'POST') {
      readOver(exchange.request, admission)
      return answer(exchange)
    }
    if (isSmallBody(exchange, admission)) {
      process.nextTick(this.#receiveSmall, exchange)
      return undefined
    }
    return receiveBody(exchange)
  }

  /** In the tick after its headers, a small body that came with them is in. */
  readonly #receiveSmall = (exchange: Exchange): void => this.#run(exchange, takeSmallBody)

  #isAnsweredElsewhere(exchange: Exchange): boolean {
    const { request, response } = exchange
    if (!this.#otherRequests || !isElsewhere(request.url!)) return false
    response.shouldKeepAlive &&= !this.context.isClosing()
    if (!this.#otherRequests(request, response)) return false
    readOver(request, this.context.admission)
    settle(exchange, response.statusCode)
    return true
  }

  /** @throws as `Router.find`, `invalid_parameter` */
  #findRoute(exchange: Exchange): FoundRoute {
    const { request, query } = exchange
    const found = this.#router.find(request.method!, request.url!)
    exchange.takeRoute(found)
    if (query !== '') expectKnownParameters(found.route, query)
    return found
  }

  /**
   * Waits for the version that the client has seen, or that the request names and an upstream or another process has.
   * Returns undefined if there is none to wait for.
   * @throws `invalid_request` if the header is not a version
   */
  #awaitVersion(exchange: Exchange, found: FoundRoute): Promise<void> | undefined {
    const { held } = this.context.admission
    const seen = found.route.answersUnderLoad ? undefined : this.#minVersionOf(exchange)
    exchange.seenVersion = seen
    if (seen !== undefined && !held.isServed(seen)) return held.untilServed(exchange.response, seen)
    const { seenPlace } = found.route
    const place = seenPlace && exchange.lastEventId !== undefined ? seenPlace(exchange.lastEventId) : undefined
    if (place && !held.isReached(place.isIn)) return untilReached(exchange, place)
    const forwarder = this.#forwarder
    const { query } = exchange
    if (!forwarder && this.#spreadMs === 0) return undefined
    if (this.#spreadMs > 0) {
      const { route, params } = found
      const shown = placeOfCursor(query) ?? route.namedPlace?.(params, exchange) ?? timeNamedBy(found, query)
      const late = shown && held.untilNear(exchange.response, shown, this.#spreadMs)
      if (late) return late
    }
    const named = newestNamedBy(found, query)
    if (named === undefined || held.isServed(named)) return undefined
    return forwarder
      ? untilAnnounced(exchange, named, forwarder)
      : held.untilNear(exchange.response, versionPlace(named), this.#spreadMs)
  }

  /** Reads the version that the client has seen. */
  #minVersionOf(exchange: Exchange): bigint | undefined {
    const { minVersionName } = this.context.chainHeaders
    const header = exchange.request.headers[minVersionName]
    return header === undefined ? undefined : parsePart(`header \`${minVersionName}\``, () => parseU64(String(header)))
  }
}

/** Answers a question whether a page of another origin may send a request. Returns false if the request is not one. */
function answersPreflight(exchange: Exchange): boolean {
  const { request } = exchange
  if (request.method !== 'OPTIONS' || !isPreflight(request)) return false
  readOver(request, exchange.context.admission)
  sendHeaders(exchange, preflightHeaders(request))
  return true
}

/** Holds a request for a version that an upstream has announced. If none has, the request is answered without it. */
async function untilAnnounced(exchange: Exchange, version: bigint, forwarder: Forwarder): Promise<void> {
  const isAnnounced = forwarder.hasAnnounced(version) || (await forwarder.has(version))
  if (exchange.response.destroyed) throw clientLeft()
  if (isAnnounced) await forwarder.untilAnnounced(exchange, version)
}

/** Holds a request for a place that its client has seen. If it does not come in time, the request is answered without it. */
async function untilReached({ context, response }: Exchange, { version, isIn }: SeenPlace): Promise<void> {
  await context.admission.held.isReachedInTime(response, version, isIn, MOST_LAG_MS)
}

/** Waits, and then continues with a step. */
async function after(wait: Promise<void>, exchange: Exchange, step: Step): Promise<void> {
  await wait
  exchange.resume()
  await step(exchange)
}

/** Receives the body of a POST as it comes. */
function receiveBody(exchange: Exchange): Promise<void> | undefined {
  endWithResponse(exchange)
  const body = readBody(exchange, exchange.openUpload(), exchange.context.admission)
  return body ? after(body, exchange, answer) : answer(exchange)
}

/** Takes a small body if it is in whole, otherwise receives it as it comes. */
function takeSmallBody(exchange: Exchange): Promise<void> | undefined {
  // The time of the requests that were read in the same turn is not its own.
  exchange.resume()
  const body = takeWholeBody(exchange.request)
  if (!body) return receiveBody(exchange)
  exchange.context.admission.uploads.take(exchange.openUpload(), body)
  return answer(exchange)
}

/** Runs the operation once it is admitted. */
function answer(exchange: Exchange): Promise<void> | undefined {
  const route = exchange.route!
  exchange.context.admission.load.admit(exchange.response, route)
  const late = runInTurn(exchange, route)
  if (late) endWithResponse(exchange)
  return late
}

/** Runs the operation at once if the request is small and this turn has time left, otherwise in a later turn. */
function runInTurn(exchange: Exchange, { takesTurns }: Route): Promise<void> | undefined {
  const { parsedBytes: bytes, readyAt, context } = exchange
  return context.admission.turns.begin({ bytes, takesTurns, readyAt }, runOperation, exchange)
}

/** Runs the operation, which parses the request and reads the state, and writes its answer. */
function runOperation(exchange: Exchange): Promise<void> | undefined {
  const { route } = exchange
  // Something ended the request while it waited for its turn.
  if (!route) return undefined
  if (exchange.response.destroyed) throw clientLeft()
  const { ledger, admission } = exchange.context
  exchange.run(ledger.kind === 'async' ? undefined : ledger)
  const answer = route.handle(exchange)
  if (!(answer instanceof Promise)) return sendAnswer(exchange, answer)
  if (route.method !== 'POST') admission.load.enter(exchange.response)
  return answer.then((late) => sendAnswer(exchange, late))
}

function endWithResponse(exchange: Exchange): void {
  if (exchange.endsWithResponse) return
  exchange.endsWithResponse = true
  // Emitted once for every response, whether it went out whole or the client left.
  exchange.response.on('close', () => {
    if (!exchange.isAnswered) sendError(exchange, clientLeft())
  })
}

/** Whether a target is a path that is neither `/v1` nor below it. */
export function isElsewhere(target: string): boolean {
  if (!target.startsWith('/v1')) return target.startsWith('/')
  const next = target[3]
  return next !== undefined && next !== '/' && next !== '?'
}
