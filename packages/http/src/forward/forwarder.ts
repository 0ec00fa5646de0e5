import type { ServerResponse } from 'node:http'
import { setTimeout as sleep } from 'node:timers/promises'
import { isLedgerStateError } from '@ledger-state/core'
import type { HttpAnswer } from '@ledger-state/core/requests'
import type { HeldRequests } from '../admission/held-requests.js'
import { Refusal } from '../admission/refusal.js'
import { bodyTooLarge, clientLeft, upstreamAnswered, upstreamFailed, versionNotReached } from '../errors.js'
import type { Answer, OperationRequest } from '../operations/parts/operation.js'
import { chooseFormat } from '../protocol/accept.js'
import { CLIENT_LEFT } from '../protocol/error-reply.js'
import { isJsonContentType, MEDIA_TYPE } from '../protocol/media-types.js'
import { queryParameter } from '../protocol/query.js'
import { type BoundedBody, readBoundedBody } from './bounded-body.js'
import type { ForwardKind, ForwardLimits, ForwardOptions } from './forward-options.js'
import { ForwardSlots } from './forward-slots.js'
import { namedVersion } from './named-version.js'
import { SettledVersion } from './settled-version.js'
import { targetUrl } from './target-url.js'
import { isOk, retryAfterOf, Upstream, type UpstreamInit } from './upstream.js'
import type { UpstreamState } from './upstream-headers.js'

/** Name of this service in `Via` (RFC 9110, section 7.6.3). */
const PSEUDONYM = '1.1 ledger-state'
/**
 * Most services that may forward a request one after the other. A service that forwards to itself would fill all its
 * places.
 */
const MOST_HOPS = 4
/** Statuses that the user's document has for reads of state, and statuses that refuse a body. */
const STATE_ERROR_STATUSES: readonly number[] = [400, 403, 404, 410, 413, 415, 500, 503]
const NO_ANSWER = 503
/** Most versions by which an announced version may be ahead. No ledger gains more while a request is held. */
const MOST_AHEAD = 1_000_000n
/** Time for which announced versions are not relied on after one did not come. */
const DOUBT_MS = 30_000
/**
 * Headers of an upstream's answer, which goes out under the address of this service's page: no browser takes it for
 * another type, or runs it.
 */
const HARMLESS = ['x-content-type-options', 'nosniff', 'content-security-policy', "default-src 'none'; sandbox"]
/**
 * Types of answers that are passed on. Any other type, such as HTML, becomes the type of unknown bytes (RFC 9110, 8.3).
 */
const PASSED_TYPE = /^\s*(application\/(?:json|x-bcs))\s*(?:;|$)/i
const UNKNOWN_TYPE = 'application/octet-stream'

/** A request that can be sent on. */
export interface ForwardableRequest extends OperationRequest {
  /** The `Via` header, which names the services that have forwarded the request. */
  readonly via: string | undefined
  /** The version that the client has seen, as it says; undefined if it does not. */
  readonly seenVersion: bigint | undefined
  readonly response: ServerResponse
  /** Signal that is aborted when the response is over, whether it went out whole or the client left. */
  readonly gone: AbortSignal
}

/** An operation on the closed list of forwarded ones. */
export interface Forwardable {
  readonly kind: ForwardKind
  readonly method: 'GET' | 'POST'
  /** Path with `{name}` for path parameters. */
  readonly path: string
  /** Names of the query parameters that are passed on. */
  readonly query: readonly string[]
  /** Member of its JSON answer that names a version of the ledger. */
  readonly versionMember?: string
  /** Whether its BCS answer is a transaction, which begins with its version. */
  readonly isTransaction?: boolean
  /** Whether it reads state, so that its answer must have all chain-state headers. */
  readonly readsState?: boolean
  /** Whether it has no JSON answer. */
  readonly isRaw?: boolean
}

/** Parts of its service that a forwarder needs. */
export interface ForwarderSurroundings {
  readonly limits: ForwardLimits
  /** As in `RequestListenerOptions`: an answer that names a version waits until all processes have it. */
  readonly spreadMs: number
  /** Words in the names of the chain-state headers, `x-<word>-ledger-version`. */
  readonly words: readonly string[]
  /** Chain id of the ledger; undefined if it has none yet. */
  readonly chainId: () => bigint | undefined
  /** The newest version that is served here; undefined if there is none. */
  readonly latestVersion: () => bigint | undefined
  /** Holds requests until a version is served here. */
  readonly held: HeldRequests
  /** Name of the header that says which service answered. */
  readonly answeredByName: string
}

/** Sends requests on the closed list to upstreams, and passes on their answers. */
export class Forwarder {
  readonly #options: ForwardOptions
  readonly #surroundings: ForwarderSurroundings
  readonly #slots: ForwardSlots
  readonly #settled: SettledVersion
  readonly #byKind: ReadonlyMap<ForwardKind, Upstream>
  readonly #upstreams: readonly Upstream[]
  /** Number of requests that wait to learn whether an upstream has a version. */
  #asking = 0
  /** Time, in milliseconds of `performance.now`, until which announced versions are not relied on. */
  #doubtedUntil = 0

  constructor(options: ForwardOptions, surroundings: ForwarderSurroundings) {
    const { upstreams, headers = {}, onUpstreamChange = () => {} } = options
    this.#options = options
    this.#surroundings = surroundings
    this.#slots = new ForwardSlots(surroundings.limits)
    const { words, chainId, latestVersion } = surroundings
    this.#settled = new SettledVersion(latestVersion, surroundings.spreadMs)
    const byUrl = new Map<string, Upstream>()
    for (const url of Object.values(upstreams)) {
      byUrl.set(url, new Upstream({ url, headers, words, chainId, onChange: onUpstreamChange }))
    }
    this.#upstreams = [...byUrl.values()]
    this.#byKind = new Map(Object.entries(upstreams).map(([kind, url]) => [kind as ForwardKind, byUrl.get(url)!]))
  }

  /** Whether requests of a kind are forwarded. */
  forwards(kind: ForwardKind): boolean {
    return this.#byKind.has(kind)
  }

  /** Whether an upstream has lately announced a version, and this service may soon have it. */
  hasAnnounced(version: bigint): boolean {
    return this.#maySoonServe(version) && this.#upstreams.some((upstream) => upstream.hasAnnounced(version))
  }

  /**
   * Holds a request for an announced version. If the version does not come in time, and no other either, announcements
   * are not relied on for a while.
   * @throws `client_left`, `Refusal` if the version does not come in time, or if too many requests are held
   */
  async untilAnnounced({ response }: Pick<ForwardableRequest, 'response'>, version: bigint): Promise<void> {
    const { latestVersion, held } = this.#surroundings
    const before = latestVersion()
    if (await held.isServedInTime(response, version)) return
    if (latestVersion() === before) this.#doubtedUntil = performance.now() + DOUBT_MS
    throw held.refusalFor(version)
  }

  #maySoonServe(version: bigint): boolean {
    const latest = this.#surroundings.latestVersion()
    return latest !== undefined && version <= latest + MOST_AHEAD && performance.now() >= this.#doubtedUntil
  }

  /**
   * Same as `hasAnnounced`, but asks the upstreams first. Never fails: an upstream that does not answer has announced
   * nothing.
   */
  async has(version: bigint): Promise<boolean> {
    if (!this.#maySoonServe(version)) return false
    // Others are asking already, and their answers serve the next requests.
    if (this.#asking >= this.#surroundings.limits.maxForwardQueue) return this.hasAnnounced(version)
    this.#asking++
    try {
      await Promise.allSettled(this.#upstreams.map((upstream) => upstream.look()))
    } finally {
      this.#asking--
    }
    return this.hasAnnounced(version)
  }

  /** Sends a request to the upstream of its kind. Only the `body` of the answer is in memory. */
  async forward(request: ForwardableRequest, forwardable: Forwardable): Promise<Answer> {
    const { gone } = request
    const { limits } = this.#surroundings
    const upstream = this.#byKind.get(forwardable.kind)!
    const url = targetUrl('', forwardable.path, request.params, request.query, forwardable.query)
    const hops = hopsOf(request)
    if (hops >= MOST_HOPS) throw upstreamFailed(`the request was forwarded ${hops} times, and has come back here`)
    if (request.body.length > limits.forwardBodyLimitBytes) throw bodyTooLarge.longerThan(limits.forwardBodyLimitBytes)
    const leave = await this.#slots.take(gone)
    const course = this.#begin(forwardable.kind, gone, leave)
    try {
      await upstream.expectUsable()
      if (gone.aborted) throw clientLeft()
      const init = requestInit(request, forwardable, hops + 1, course.signal)
      const response = await upstream.ask(url, { ...init, silenceMs: limits.forwardTimeoutMs })
      const state = upstream.readState(response)
      const contentType = typeOfAnswer(response)
      if (forwardable.readsState) {
        expectStateAnswer(response, contentType, state)
        expectSeen(request, response, state)
      }
      const body = await readBoundedBody(response, limits.forwardAnswerLimitBytes, (bytes) => course.count(bytes))
      if (!body.rest) course.end(response.status)
      if (isOk(response.status)) await this.#haveVersion(request, forwardable, contentType, body, state)
      const retryAfterMs = retryAfterOf(response.headers)
      return {
        status: response.status,
        contentType,
        chainState: state.headers,
        headers: [
          this.#surroundings.answeredByName,
          'upstream',
          ...HARMLESS,
          ...(retryAfterMs === undefined ? [] : ['retry-after', String(Math.ceil(retryAfterMs / 1_000))]),
        ],
        body: body.first,
        ...(body.rest && {
          rest: { chunks: restOf(body.rest, () => course.end(response.status)), late: course.late },
        }),
      }
    } catch (error) {
      const isOurs = isLedgerStateError(error) || error instanceof Refusal
      course.end(gone.aborted ? CLIENT_LEFT : NO_ANSWER)
      if (isOurs) throw error
      if (gone.aborted) throw clientLeft()
      upstream.doubt()
      const isLate = course.late.aborted
      const why = isLate ? 'it did not answer in time' : 'it cannot be reached, or its answer ended early'
      const outcome = forwardable.kind === 'submit' ? '; whether it took the transaction is not known' : ''
      throw upstreamFailed(`${why}${outcome}`, error)
    }
  }

  /** Starts the time that a request may take. Returns its signal, and the error when the time is over. */
  #begin(kind: ForwardKind, gone: AbortSignal, leave: () => void) {
    const { onForward, onForwarded } = this.#options
    const controller = new AbortController()
    const began = performance.now()
    const late = new AbortController()
    let bytes = 0
    let isOver = false
    const end = (status: number): void => {
      if (isOver) return
      isOver = true
      clearTimeout(timer)
      gone.removeEventListener('abort', cut)
      // The unread rest of the answer is given up.
      controller.abort()
      leave()
      onForwarded?.({ kind, status, bytes, seconds: (performance.now() - began) / 1_000 })
    }
    const cut = (): void => end(CLIENT_LEFT)
    const timer = setTimeout(() => {
      late.abort()
      end(NO_ANSWER)
    }, this.#surroundings.limits.forwardTimeoutMs)
    gone.addEventListener('abort', cut, { once: true })
    onForward?.(kind)
    return {
      signal: controller.signal,
      late: late.signal,
      count(more: number) {
        bytes += more
      },
      end,
    }
  }

  /**
   * Waits until a version that an answer names is served here. Otherwise the client might next read state, through any
   * connection and process, and not find the effects of its transaction.
   */
  async #haveVersion(
    request: ForwardableRequest,
    { versionMember, isTransaction }: Forwardable,
    contentType: string,
    { first, rest }: BoundedBody,
    { ledgerVersion }: UpstreamState,
  ): Promise<void> {
    const settled = this.#settled
    if (versionMember === undefined || ledgerVersion === undefined || settled.has(ledgerVersion)) return
    const isJson = isJsonContentType(contentType)
    const named =
      isJson || isTransaction
        ? namedVersion(first, { isJson, member: versionMember, isWhole: rest === undefined })
        : 'unknown'
    const version = named === 'unknown' ? ledgerVersion : named
    if (version === undefined || settled.has(version)) return
    const { held, spreadMs } = this.#surroundings
    if (!held.isServed(version)) await held.untilServed(request.response, version)
    if (spreadMs > 0) await sleep(spreadMs)
  }
}

/** Number of services that have forwarded a request before it came here. */
function hopsOf({ via }: ForwardableRequest): number {
  return via === undefined ? 0 : via.split(PSEUDONYM).length - 1
}

function typeOfAnswer({ headers }: HttpAnswer): string {
  return PASSED_TYPE.exec(headers.get('content-type') ?? '')?.[1]?.toLowerCase() ?? UNKNOWN_TYPE
}

/**
 * Checks that an upstream's answer to a read of state has the form in the user's document.
 * @throws `upstream_failed`
 */
function expectStateAnswer({ status }: HttpAnswer, contentType: string, state: UpstreamState): void {
  const ok = isOk(status)
  if (ok && !state.isComplete) throw upstreamFailed('its answer is missing headers that describe the state')
  if (!ok && !(STATE_ERROR_STATUSES.includes(status) && isJsonContentType(contentType))) {
    throw upstreamAnswered(status)
  }
}

/**
 * Checks that an upstream's answer about its newest state is not older than the version that the client has seen.
 * @throws `version_not_reached`
 */
function expectSeen({ query, seenVersion }: ForwardableRequest, { status }: HttpAnswer, state: UpstreamState): void {
  if (seenVersion === undefined || !isOk(status) || queryParameter(query, 'ledger_version') !== undefined) return
  const { ledgerVersion } = state
  if (ledgerVersion === undefined || ledgerVersion < seenVersion) throw versionNotReached(seenVersion, ledgerVersion)
}

function requestInit(
  request: ForwardableRequest,
  { method, isRaw }: Forwardable,
  hops: number,
  signal: AbortSignal,
): UpstreamInit {
  const headers: Record<string, string> = {
    via: Array.from({ length: hops }, () => PSEUDONYM).join(', '),
    // A fullnode ignores ranges such as `*/*`, and types with parameters.
    accept: MEDIA_TYPE[isRaw ? 'bcs' : chooseFormat(request.accept, 'json')],
  }
  if (method === 'GET') return { method, headers, signal }
  if (request.contentType !== undefined) headers['content-type'] = request.contentType
  // `fetch` copies the body. The body's memory is freed when the client leaves.
  return { method, headers, signal, body: request.body as Uint8Array<ArrayBuffer> }
}

/**
 * The rest of an answer.
 * @param end called when its last bytes were read, or reading failed
 */
async function* restOf(rest: AsyncGenerator<Uint8Array>, end: () => void): AsyncGenerator<Uint8Array> {
  try {
    yield* rest
  } finally {
    end()
  }
}
