import { Buffer } from 'node:buffer'
import { type Backoff, isLedgerStateError, pauseFor } from '@ledger-state/core'
import { redirectRefused, requestRefused, requestsFailed, transferStopped } from '../errors.js'
import {
  askingAgain,
  createBackoff,
  fetchFailure,
  isCertificateFault,
  retryAfterOf,
} from '../requests/retrying-fetch.js'
import { isRedirect, redirectTarget } from './redirect.js'
import type { RequestSigner } from './request-signer.js'

const ATTEMPTS = 8
const MOST_REDIRECTS = 5
const SILENCE_MS = 30_000

export interface BucketRequestOptions {
  /**
   * Headers sent with every request. If there are any, redirects are not followed, since they would carry the headers
   * to another server.
   */
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

/** Reason to make a request again. */
export interface Failure {
  readonly why: string
  readonly retryAfterMs: number
  /** Status of the answer, if there was one. */
  readonly status?: number | undefined
}

/** An answer whose body has not been read yet. */
export interface BucketAnswer {
  readonly status: number
  readonly headers: Headers
  /** The body. If it is cut short, the reading throws. Leaving the reading early releases the connection. */
  pieces(): AsyncGenerator<Uint8Array, void>
  /** Releases the connection without reading the body. */
  drop(): Promise<void>
}

/** GET requests to a server of objects, repeated after failures. */
export class BucketRequests {
  readonly #options: BucketRequestOptions
  readonly #closed = new AbortController()
  readonly #ended: AbortSignal
  #signer: Promise<RequestSigner | undefined> | undefined
  /** Servers that redirect permanently, each with its target. */
  readonly #moved = new Map<string, string>()

  constructor(options: BucketRequestOptions) {
    this.#options = options
    const { signal } = options
    this.#ended = signal ? AbortSignal.any([signal, this.#closed.signal]) : this.#closed.signal
  }

  /** Counter of failures for one request, which is made until it succeeds. */
  attempts(url: string): Attempts {
    return new Attempts(url, this.#ended, this.#options)
  }

  /**
   * Makes one request, and follows redirects. It returns a `Failure` if asking again may help: if the server is not
   * reached, sends nothing, is too busy or fails (408, 429, 5xx).
   * @throws `source_failed` if asking again does not help, or the caller stopped it
   */
  async ask(url: string, headers: Readonly<Record<string, string>>): Promise<BucketAnswer | Failure> {
    let place = this.#placeOf(url)
    for (let redirects = 0; ; redirects++) {
      const answer = await this.#askOnce(place, headers)
      if ('why' in answer || !isRedirect(answer.status)) return answer
      await answer.drop()
      const to = this.#options.headers ? undefined : redirectTarget(place, answer.headers)
      if (to === undefined || redirects === MOST_REDIRECTS) {
        const named = answer.headers.get('location') ?? 'another region'
        throw redirectRefused(place, answer.status, redirects === MOST_REDIRECTS ? `${named}, one of many` : named)
      }
      this.#noteMove(place, to)
      place = to
    }
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

  async #askOnce(url: string, headers: Readonly<Record<string, string>>): Promise<BucketAnswer | Failure> {
    const { silenceMs = SILENCE_MS } = this.#options
    const cut = new AbortController()
    try {
      this.#signer ??= this.#options.sign?.()
      const signer = await this.#signer
      const signed = signer && (await signer(url))
      const asking = fetch(url, {
        headers: { ...this.#options.headers, ...headers, ...signed },
        redirect: 'manual',
        signal: AbortSignal.any([cut.signal, this.#ended]),
      })
      const response = await withinSilence(asking, silenceMs, cut)
      const { status } = response
      const answer = {
        status,
        headers: response.headers,
        pieces: () => piecesOf(response, silenceMs, cut),
        drop: async () => await response.body?.cancel(),
      }
      if (status !== 408 && status !== 429 && status < 500) return answer
      await answer.drop()
      return { why: `status ${status}`, status, retryAfterMs: retryAfterOf(response.headers) }
    } catch (error) {
      if (this.#ended.aborted) throw transferStopped(url)
      if (isLedgerStateError(error)) throw error
      if (isCertificateFault(error)) throw requestRefused(url, fetchFailure(error))
      return { why: fetchFailure(error), retryAfterMs: 0 }
    }
  }
}

/** Counts the failures in a row of one request, and pauses between them. */
export class Attempts {
  readonly #url: string
  readonly #ended: AbortSignal
  readonly #onNotice: (message: string) => void
  readonly #backoff: Backoff

  constructor(url: string, ended: AbortSignal, { firstPauseMs, onNotice = () => {} }: BucketRequestOptions) {
    this.#url = url
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
  async failed({ why, retryAfterMs }: Failure): Promise<void> {
    if (this.#ended.aborted) throw transferStopped(this.#url)
    const pause = this.#backoff.next(retryAfterMs)
    if (this.#backoff.failures >= ATTEMPTS) throw requestsFailed(this.#url, ATTEMPTS, why)
    this.#onNotice(`GET ${this.#url}: ${why}; ${askingAgain(pause)}`)
    await pauseFor(pause, this.#ended)
    if (this.#ended.aborted) throw transferStopped(this.#url)
  }
}

/** The body of an answer as a text, at most its first `most` bytes. */
export async function textOfAnswer(answer: BucketAnswer, most: number): Promise<string> {
  const pieces: Uint8Array[] = []
  let length = 0
  for await (const piece of answer.pieces()) {
    pieces.push(piece)
    length += piece.length
    if (length > most) break
  }
  return Buffer.concat(pieces).subarray(0, most).toString('utf8')
}

/** Turns the error of reading a body into a reason to ask again. */
export function failureOf(error: unknown): Failure {
  return { why: fetchFailure(error), retryAfterMs: 0 }
}

/**
 * Bytes of a body as they come. Only the wait for the server counts as silence, not the time that the reader takes for
 * a piece.
 */
async function* piecesOf(
  response: Response,
  silenceMs: number,
  cut: AbortController,
): AsyncGenerator<Uint8Array, void> {
  const reader = response.body?.getReader()
  if (!reader) return
  let isWaiting = false
  let isEnd = false
  const timer = setTimeout(() => isWaiting && cutSilent(cut, silenceMs), silenceMs)
  try {
    while (!isEnd) {
      isWaiting = true
      timer.refresh()
      const { done, value } = await reader.read()
      isWaiting = false
      isEnd = done
      if (value) yield value
    }
  } finally {
    clearTimeout(timer)
    if (!isEnd) cut.abort()
  }
}

async function withinSilence<T>(waiting: Promise<T>, silenceMs: number, cut: AbortController): Promise<T> {
  const timer = setTimeout(cutSilent, silenceMs, cut, silenceMs)
  try {
    return await waiting
  } finally {
    clearTimeout(timer)
  }
}

function cutSilent(cut: AbortController, silenceMs: number): void {
  cut.abort(new Error(`nothing came for ${silenceMs / 1_000} s`))
}
