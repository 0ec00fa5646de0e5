import { setTimeout as sleep } from 'node:timers/promises'
import { isLedgerStateError } from '@ledger-state/core'
import { bodyTooLarge, clientLeft, upstreamFailed } from '../errors.js'
import type { Answer, OperationRequest } from '../operations/operation.js'
import { CLIENT_LEFT } from '../protocol/error-reply.js'
import { isJsonContentType } from '../protocol/media-types.js'
import { type BoundedBody, readBoundedBody } from './bounded-body.js'
import type { ForwardKind, ForwardLimits, ForwardOptions } from './forward-options.js'
import { ForwardSlots } from './forward-slots.js'
import { namedVersion } from './named-version.js'
import { SettledVersion } from './settled-version.js'
import { targetUrl } from './target-url.js'
import { Upstream, type UpstreamInit } from './upstream.js'
import type { UpstreamState } from './upstream-headers.js'

/** What this service calls itself in `Via` (RFC 9110, section 7.6.3). */
const PSEUDONYM = '1.1 ledger-state'
/** Services that may forward a request one after the other. One that forwards to itself would fill all its places. */
const MOST_HOPS = 4
/** Statuses of reads of state that the user's document has, and those that refuse a body. */
const STATE_ERROR_STATUSES: readonly number[] = [400, 403, 404, 410, 413, 415, 500, 503]
const NO_ANSWER = 503
/** Type of an answer that does not name one (RFC 9110, section 8.3). */
const UNKNOWN_TYPE = 'application/octet-stream'

/** A request that can be sent on. */
export interface ForwardableRequest extends OperationRequest {
  /** The `Via` header, which names those that have forwarded it. */
  readonly via: string | undefined
  /** Aborted when its response is over, whether it went out whole or the client left. */
  readonly gone: AbortSignal
}

/** An operation of the closed list of what is forwarded. */
export interface Forwardable {
  readonly kind: ForwardKind
  readonly method: 'GET' | 'POST'
  /** Path with `{name}` for path parameters. */
  readonly path: string
  /** Names of the query parameters that are passed on. */
  readonly query: readonly string[]
  /** The member of its answer in JSON that names a version of the ledger. */
  readonly versionMember?: string
  /** Whether its answer in BCS is a transaction, which begins with its version. */
  readonly isTransaction?: boolean
  /** Whether it reads state, so that its answer must have all chain-state headers. */
  readonly readsState?: boolean
}

/** What a forwarder needs of the service that it belongs to. */
export interface ForwarderSurroundings {
  readonly limits: ForwardLimits
  /** Words of the names of the chain-state headers, `x-<word>-ledger-version`. */
  readonly words: readonly string[]
  /** Chain id of the ledger; undefined if it has none yet. */
  readonly chainId: () => bigint | undefined
  /** The newest version that is served here; undefined if there is none. */
  readonly latestVersion: () => bigint | undefined
  /** Resolves when a version is served here. A request for which that takes too long is answered, and its signal aborted. */
  readonly untilServed: (request: ForwardableRequest, version: bigint) => Promise<void>
  /** Name of the header that says who answered. */
  readonly answeredByName: string
}

/** Sends requests that are on the closed list to upstreams, and hands on their answers. */
export class Forwarder {
  readonly #options: ForwardOptions
  readonly #surroundings: ForwarderSurroundings
  readonly #slots: ForwardSlots
  readonly #settled: SettledVersion
  readonly #byKind: ReadonlyMap<ForwardKind, Upstream>
  readonly #upstreams: readonly Upstream[]
  /** Requests that wait to learn whether an upstream has a version. */
  #asking = 0

  constructor(options: ForwardOptions, surroundings: ForwarderSurroundings) {
    const { upstreams, headers = {}, onUpstreamChange = () => {} } = options
    this.#options = options
    this.#surroundings = surroundings
    this.#slots = new ForwardSlots(surroundings.limits)
    const { words, chainId, latestVersion } = surroundings
    this.#settled = new SettledVersion(latestVersion, options.spreadMs ?? 0)
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

  /** Whether an upstream has announced a version by now. */
  hasAnnounced(version: bigint): boolean {
    return this.#upstreams.some(({ newestVersion }) => newestVersion !== undefined && newestVersion >= version)
  }

  /**
   * Same as `hasAnnounced`, but asks the upstreams first. Never fails: an upstream that does not answer has announced
   * nothing.
   */
  async has(version: bigint): Promise<boolean> {
    // Others are asking already, and what they learn holds for those that come next.
    if (this.#asking >= this.#surroundings.limits.maxForwardQueue) return this.hasAnnounced(version)
    this.#asking++
    try {
      await Promise.allSettled(this.#upstreams.map((upstream) => upstream.look()))
    } finally {
      this.#asking--
    }
    return this.hasAnnounced(version)
  }

  /** Sends a request to the upstream of its kind. The answer is in memory as far as its `body` goes. */
  async forward(request: ForwardableRequest, forwardable: Forwardable): Promise<Answer> {
    const { gone } = request
    const { limits } = this.#surroundings
    const upstream = this.#byKind.get(forwardable.kind)!
    const url = targetUrl('', forwardable.path, request.params, request.query, forwardable.query)
    const hops = hopsOf(request)
    if (hops >= MOST_HOPS) throw upstreamFailed(`the request was forwarded ${hops} times, and has come back here`)
    if (request.body.length > limits.forwardBodyLimitBytes) throw bodyTooLarge(limits.forwardBodyLimitBytes)
    const leave = await this.#slots.take(gone)
    const course = this.#begin(forwardable.kind, gone, leave)
    try {
      await upstream.expectUsable()
      if (gone.aborted) throw clientLeft()
      const response = await upstream.ask(url, requestInit(request, forwardable, hops + 1, course.signal))
      const state = upstream.readState(response)
      const contentType = response.headers.get('content-type') ?? UNKNOWN_TYPE
      if (forwardable.readsState) expectStateAnswer(response, contentType, state)
      const body = await readBoundedBody(response, limits.forwardAnswerLimitBytes, (bytes) => course.count(bytes))
      if (!body.rest) course.end(response.status)
      if (response.ok) await this.#haveVersion(request, forwardable, contentType, body, state)
      const retryAfter = response.headers.get('retry-after')
      return {
        status: response.status,
        contentType,
        chainState: state.headers,
        headers: [
          this.#surroundings.answeredByName,
          'upstream',
          ...(retryAfter === null ? [] : ['retry-after', retryAfter]),
        ],
        body: body.first,
        ...(body.rest && {
          rest: { chunks: restOf(body.rest, () => course.end(response.status)), late: course.late },
        }),
      }
    } catch (error) {
      const isOurs = isLedgerStateError(error)
      course.end(gone.aborted ? CLIENT_LEFT : NO_ANSWER)
      if (isOurs) throw error
      if (gone.aborted) throw clientLeft()
      upstream.doubt()
      const isLate = course.late.aborted
      const why = isLate ? 'it has not answered in time' : 'it cannot be reached, or ended its answer early'
      const outcome = forwardable.kind === 'submit' ? '; whether it took the transaction is not known' : ''
      throw upstreamFailed(`${why}${outcome}`, error)
    }
  }

  /** The time that a request may take, and the error when it is over. */
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
      // What was not read of the answer is not read any more.
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
   * An answer that names a version which is not served here yet waits until it is: who asked may read state next, through
   * any connection and process, and would not find what the answer speaks of.
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
    await this.#surroundings.untilServed(request, version)
    const { spreadMs = 0 } = this.#options
    if (spreadMs > 0) await sleep(spreadMs)
  }
}

/** How often a request was forwarded before it came here. */
function hopsOf({ via }: ForwardableRequest): number {
  return via === undefined ? 0 : via.split(PSEUDONYM).length - 1
}

/** The answer to a read of state has the form that the user's document says, whoever gives it. @throws `upstream_failed` */
function expectStateAnswer({ ok, status }: Response, contentType: string, state: UpstreamState): void {
  if (ok && !state.isComplete) throw upstreamFailed('its answer lacks headers that describe the state')
  if (!ok && !(STATE_ERROR_STATUSES.includes(status) && isJsonContentType(contentType))) {
    throw upstreamFailed(`it answers with status ${status}`)
  }
}

function requestInit(
  request: ForwardableRequest,
  { method }: Forwardable,
  hops: number,
  signal: AbortSignal,
): UpstreamInit {
  const headers: Record<string, string> = { via: Array.from({ length: hops }, () => PSEUDONYM).join(', ') }
  if (request.accept !== undefined) headers.accept = request.accept
  if (method === 'GET') return { method, headers, signal }
  if (request.contentType !== undefined) headers['content-type'] = request.contentType
  // `fetch` copies it: its memory is freed when the client leaves.
  return { method, headers, signal, body: request.body as Uint8Array<ArrayBuffer> }
}

/** @param end called when the last of it was taken, or it failed */
async function* restOf(rest: AsyncGenerator<Uint8Array>, end: () => void): AsyncGenerator<Uint8Array> {
  try {
    yield* rest
  } finally {
    end()
  }
}
