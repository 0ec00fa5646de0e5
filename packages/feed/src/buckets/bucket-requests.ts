import { type Backoff, Lazy, pauseFor } from '@ledger-state/core'
import {
  followNone,
  type HttpAnswer,
  type RequestFailure,
  type StreamedBody,
  sendRequest,
} from '@ledger-state/core/requests'
import { requestRefused, sourceFailed } from '../errors.js'
import { askingAgain, createBackoff } from '../requests/retrying-fetch.js'
import { redirectTarget } from './redirect.js'
import type { RequestSigner, SentRequest } from './request-signer.js'

const ATTEMPTS = 8

export interface BucketRequestOptions {
  /** Headers sent with every request. If there are any, redirects are not followed. */
  readonly headers?: Readonly<Record<string, string>> | undefined
  /**
   * Signs each request in the name of an account. Redirects are followed as usual, with a new signature for each
   * target.
   */
  readonly sign?: (() => Promise<RequestSigner | undefined>) | undefined
  /** Ends all requests and pauses. */
  readonly signal?: AbortSignal | undefined
  /** Pause after the first failure, 250 ms by default; each further failure in a row doubles it, up to 30 s. */
  readonly firstPauseMs?: number | undefined
  /** How long a server may send nothing, in milliseconds; 30,000 by default. */
  readonly silenceMs?: number | undefined
  readonly onNotice?: ((message: string) => void) | undefined
}

/** A request that is no `GET`. */
export interface BucketRequest extends SentRequest {
  readonly body?: StreamedBody | undefined
}

const GET: BucketRequest = { method: 'GET' }

/** Requests to a server of objects, repeated after failures. */
export class BucketRequests {
  readonly #options: BucketRequestOptions
  readonly #closed = new AbortController()
  readonly #ended: AbortSignal
  readonly #signer: Lazy<RequestSigner | undefined>
  /** Whether a server was found: then it is worth waiting for if it cannot be reached later. */
  #wasReached = false
  /** Servers that redirect permanently, each with its target. */
  readonly #moved = new Map<string, string>()

  constructor(options: BucketRequestOptions) {
    this.#options = options
    const { signal, sign } = options
    this.#signer = new Lazy(async () => await sign?.())
    this.#ended = signal ? AbortSignal.any([signal, this.#closed.signal]) : this.#closed.signal
  }

  /** Counter of failures for one request, which is made until it succeeds. */
  attempts(url: string, method: BucketRequest['method'] = 'GET'): Attempts {
    return new Attempts({ url, method }, this.#ended, this.#options)
  }

  /**
   * Makes one request, and follows redirects. It returns a failure if asking again may help: if the server is not
   * reached, sends nothing, is too busy or fails (408, 429, 5xx).
   * @throws `source_failed` if asking again does not help, or the caller stopped it
   */
  async ask(
    url: string,
    headers: Readonly<Record<string, string>>,
    request: BucketRequest = GET,
  ): Promise<HttpAnswer | RequestFailure> {
    const { headers: more, silenceMs } = this.#options
    const place = this.#placeOf(url)
    const { method, body } = request
    const answer = await sendRequest(place, {
      method,
      body,
      headers: { ...more, ...headers },
      sign: (target) => this.#sign(target, request),
      redirectTarget: more ? followNone : redirectTarget,
      signal: this.#ended,
      silenceMs,
    })
    if (this.#ended.aborted) throw sourceFailed.transferStopped(url, method)
    if ('why' in answer && answer.isUnreachable && !this.#wasReached) throw sourceFailed.unreachable(place, answer.why)
    this.#wasReached = true
    if (!('why' in answer)) this.#noteMove(place, answer.url)
    else if (answer.isFinal) throw requestRefused(place, answer.why, answer.status, method)
    return answer
  }

  /** Ends all requests and pauses. */
  close(): void {
    this.#closed.abort()
  }

  #placeOf(url: string): string {
    const { origin } = new URL(url)
    return (this.#moved.get(origin) ?? origin) + url.slice(origin.length)
  }

  #noteMove(from: string, to: string): void {
    const [before, after] = [new URL(from), new URL(to)]
    const isWhole = before.pathname === after.pathname && before.search === after.search
    if (isWhole && before.origin !== after.origin) this.#moved.set(before.origin, after.origin)
  }

  async #sign(url: string, request: SentRequest): Promise<Readonly<Record<string, string>> | undefined> {
    const signer = await this.#signer.get()
    return await signer?.(url, request)
  }
}

/** Counts the failures in a row of one request, and pauses between them. */
export class Attempts {
  readonly #url: string
  readonly #method: string
  readonly #ended: AbortSignal
  readonly #onNotice: (message: string) => void
  readonly #backoff: Backoff

  constructor(
    { url, method }: { readonly url: string; readonly method: string },
    ended: AbortSignal,
    { firstPauseMs, onNotice = () => {} }: BucketRequestOptions,
  ) {
    this.#url = url
    this.#method = method
    this.#ended = ended
    this.#onNotice = onNotice
    this.#backoff = createBackoff(firstPauseMs)
  }

  /** Forgets the failures, because the request made progress. */
  progressed(): void {
    this.#backoff.reset()
  }

  /**
   * Pauses before the request is made again.
   * @throws `source_failed` after too many failures, or if the caller stopped it
   */
  async failed({ why, retryAfterMs }: RequestFailure): Promise<void> {
    if (this.#ended.aborted) throw sourceFailed.transferStopped(this.#url, this.#method)
    const pause = this.#backoff.next(retryAfterMs)
    if (this.#backoff.failures >= ATTEMPTS) throw sourceFailed.requestsFailed(this.#url, ATTEMPTS, why, this.#method)
    this.#onNotice(`${this.#method} ${this.#url}: ${why}; ${askingAgain(pause)}`)
    await pauseFor(pause, this.#ended)
    if (this.#ended.aborted) throw sourceFailed.transferStopped(this.#url, this.#method)
  }
}
