import { isLedgerStateError } from '../error.js'
import { parseRetryAfter } from '../retry-after.js'
import { ByteCollector } from './byte-collector.js'
import { fetchFailure, isLastingFault, isUnreachable, statusFailure } from './failure-texts.js'
import { isRedirect, type RedirectRule, refusedRedirect, sameServerTarget } from './redirects.js'

const MOST_REDIRECTS = 5
/** Time for which a server may send nothing before a request counts as failed. */
const SILENCE_MS = 30_000
/**
 * Fewest bytes a second of a body while its reader waits for it. On the narrowest link that a node can use, 1 Mbit/s, 32
 * answers at a time still have four times as much each.
 */
const LEAST_RATE = 1_024
const LINE_END = 10
const LONGEST_RETRY_AFTER_MS = 300_000
/** Bytes of an answer that are read for the text of a failure. */
const MOST_FAILURE_BYTES = 64 * 1024

/** A body that is sent while it is read, and read again if it is sent again. */
export interface StreamedBody {
  readonly bytes: number
  /** The bytes, beginning with the first one at each call. */
  pieces(): AsyncIterable<Uint8Array>
}

/** One request, with its timeouts and its abort signal. */
export interface HttpRequest {
  readonly method?: 'GET' | 'HEAD' | 'POST' | 'PUT' | undefined
  readonly headers?: Readonly<Record<string, string>> | undefined
  readonly body?: URLSearchParams | Uint8Array<ArrayBuffer> | StreamedBody | undefined
  /** Headers that depend on the URL, such as a signature; asked for again for each target of a redirect. */
  readonly sign?: ((url: string) => Promise<Readonly<Record<string, string>> | undefined>) | undefined
  /** Ends the request and the reading of its answer. */
  readonly signal?: AbortSignal | undefined
  /** How long the server may send nothing, in milliseconds; 30,000 by default. */
  readonly silenceMs?: number | undefined
  /** Whether the body is lines that are sent as things happen: it may be slow between lines, but not within one. */
  readonly isLive?: boolean | undefined
  /** Decides which redirects are followed: by default those on the same server. */
  readonly redirectTarget?: RedirectRule | undefined
  /** Whether answers of a server that is too busy or fails are returned like any other. */
  readonly passesFailures?: boolean | undefined
}

/** Reason why a request brought no answer that can be used. */
export interface RequestFailure {
  readonly why: string
  readonly retryAfterMs: number
  /** Status of the answer, if there was one. */
  readonly status?: number | undefined
  /** Whether asking again does not help: the URL, the certificate or a redirect was refused. */
  readonly isFinal?: boolean | undefined
  /** Whether the machine of the server was not found. Asking again helps only if it was reached before. */
  readonly isUnreachable?: boolean | undefined
}

/** An answer whose body has not been read yet. */
export interface HttpAnswer {
  /** URL that answered, after redirects. */
  readonly url: string
  readonly status: number
  readonly headers: Headers
  /** The body. If it is cut short, the reading throws. Leaving the reading early releases the connection. */
  pieces(): AsyncGenerator<Uint8Array, void>
  /** Releases the connection without reading the body. */
  drop(): Promise<void>
}

/**
 * Makes one request, and follows redirects by the one rule (`redirects.ts`). All programs on Node.js ask through it, so
 * the same failure has the same text everywhere, and no request waits forever.
 * @returns a failure if the server is not reached, sends nothing for some time, is too busy or fails (408, 429, 5xx), if
 *   its certificate is not trusted or it does not speak TLS, if its port is blocked, or if it leads to another server
 * @throws a `LedgerStateError` of `sign`
 */
export async function sendRequest(url: string, init: HttpRequest): Promise<HttpAnswer | RequestFailure> {
  const { method = 'GET', redirectTarget = sameServerTarget } = init
  let place = url
  for (let redirects = 0; ; redirects++) {
    const answer = await sendOnce(place, method, init)
    if ('why' in answer || !isRedirect(answer.status)) return answer
    await answer.drop()
    const { status, headers } = answer
    // A `POST` that became a `GET` would do something else.
    const isSameRequest = method === 'GET' || method === 'HEAD' || status === 307 || status === 308
    const to = isSameRequest ? redirectTarget(place, headers) : undefined
    const refusal = { status, retryAfterMs: 0, isFinal: true }
    if (to === undefined) return { ...refusal, why: refusedRedirect(place, status, headers) }
    if (redirects === MOST_REDIRECTS) return { ...refusal, why: `status ${status}, one redirect of many: not followed` }
    place = to
  }
}

async function sendOnce(url: string, method: string, init: HttpRequest): Promise<HttpAnswer | RequestFailure> {
  const { silenceMs = SILENCE_MS, signal, body } = init
  const cut = new AbortController()
  try {
    const signed = await init.sign?.(url)
    const response = await withinSilence(silenceMs, cut, (onProgress) =>
      fetch(url, {
        method,
        headers: { ...init.headers, ...signed, ...lengthOf(body) },
        redirect: 'manual',
        signal: signal ? AbortSignal.any([cut.signal, signal]) : cut.signal,
        ...bodyOf(body, onProgress),
      }),
    )
    const { status, headers } = response
    const answer = {
      url,
      status,
      headers,
      pieces: () => piecesOf(response, silenceMs, init.isLive === true, cut),
      drop: async () => await response.body?.cancel(),
    }
    if (init.passesFailures) return answer
    if (status !== 408 && status !== 429 && status < 500) return answer
    const text = await textOfFailure(answer).catch(() => '')
    return { why: statusFailure(answer, text), status, retryAfterMs: retryAfterOf(headers) }
  } catch (error) {
    if (isLedgerStateError(error)) throw error
    return { ...failureOf(error), isFinal: isLastingFault(error), isUnreachable: isUnreachable(error) }
  }
}

/** The body of an answer as a text, at most its first `most` bytes. */
export async function textOfAnswer(answer: HttpAnswer, most: number): Promise<string> {
  const collected = new ByteCollector(most)
  for await (const piece of answer.pieces()) {
    if (collected.add(piece)) continue
    collected.add(piece.subarray(0, most - collected.length))
    break
  }
  return collected.takeText()
}

/** The body of an answer of a failure as a text, in which a message is looked for. */
export async function textOfFailure(answer: HttpAnswer): Promise<string> {
  return await textOfAnswer(answer, MOST_FAILURE_BYTES)
}

/** The whole body of an answer; undefined if it has more than `most` bytes. */
export async function bodyOfAnswer(
  answer: HttpAnswer,
  most: number,
  onBytes: (bytes: number) => void = () => {},
): Promise<Uint8Array | undefined> {
  const collected = new ByteCollector(most)
  for await (const piece of answer.pieces()) {
    onBytes(piece.length)
    if (!collected.add(piece)) return undefined
  }
  return collected.take()
}

/** Turns the error of reading a body into a reason to ask again. */
export function failureOf(error: unknown): RequestFailure {
  return { why: fetchFailure(error), retryAfterMs: 0 }
}

/** Milliseconds, at most five minutes, that the `Retry-After` of an answer asks to wait; 0 if it does not. */
function retryAfterOf(headers: Headers): number {
  return parseRetryAfter(headers.get('retry-after'), LONGEST_RETRY_AFTER_MS) ?? 0
}

/**
 * Bytes of a body as they come. Only the wait for the server counts as silence and for its rate, not the time that the
 * reader takes for a piece.
 */
async function* piecesOf(
  response: Response,
  silenceMs: number,
  isLive: boolean,
  cut: AbortController,
): AsyncGenerator<Uint8Array, void> {
  const reader = response.body?.getReader()
  if (!reader) return
  const rate = new BodyRate(silenceMs, isLive)
  let isWaiting = false
  let isEnd = false
  const timer = setTimeout(() => isWaiting && cutSilent(cut, silenceMs), silenceMs)
  try {
    while (!isEnd) {
      isWaiting = true
      timer.refresh()
      const began = performance.now()
      const { done, value } = await reader.read()
      isWaiting = false
      isEnd = done
      if (!value) continue
      rate.count(value, performance.now() - began)
      yield value
    }
  } finally {
    clearTimeout(timer)
    if (!isEnd) cut.abort()
  }
}

/** Refuses a body that comes so slowly that it may never end. */
class BodyRate {
  readonly #windowMs: number
  readonly #isLive: boolean
  #windowBytes = 0
  #waitedMs = 0

  /** @param windowMs time of waiting over which the rate counts */
  constructor(windowMs: number, isLive: boolean) {
    this.#windowMs = windowMs
    this.#isLive = isLive
  }

  count(piece: Uint8Array, waitedMs: number): void {
    if (this.#isLive && piece.includes(LINE_END)) {
      this.#begin()
      return
    }
    this.#windowBytes += piece.length
    this.#waitedMs += waitedMs
    if (this.#waitedMs < this.#windowMs) return
    const bytesPerSecond = Math.round((1_000 * this.#windowBytes) / this.#waitedMs)
    if (bytesPerSecond < LEAST_RATE) throw new Error(`the answer comes too slowly: ${bytesPerSecond} bytes a second`)
    this.#begin()
  }

  #begin(): void {
    this.#windowBytes = 0
    this.#waitedMs = 0
  }
}

function bodyOf(body: HttpRequest['body'], onProgress: () => void): RequestInit {
  if (!body || !('pieces' in body)) return body ? { body } : {}
  const pieces = body.pieces()[Symbol.asyncIterator]()
  const sent = new ReadableStream<Uint8Array>({
    async pull(controller) {
      const { done, value } = await pieces.next()
      onProgress()
      if (done) controller.close()
      else controller.enqueue(value)
    },
    cancel: async () => void (await pieces.return?.()),
  })
  return { body: sent, duplex: 'half' } as RequestInit
}

/** Servers of objects want the length before the body. */
function lengthOf(body: HttpRequest['body']): Readonly<Record<string, string>> {
  return body && 'pieces' in body ? { 'content-length': String(body.bytes) } : {}
}

/** @param ask begins to wait; each progress of a body restarts the time of silence */
async function withinSilence<T>(
  silenceMs: number,
  cut: AbortController,
  ask: (onProgress: () => void) => Promise<T>,
): Promise<T> {
  const timer = setTimeout(cutSilent, silenceMs, cut, silenceMs)
  try {
    return await ask(() => timer.refresh())
  } finally {
    clearTimeout(timer)
  }
}

function cutSilent(cut: AbortController, silenceMs: number): void {
  cut.abort(new Error(`nothing came for ${silenceMs / 1_000} s`))
}
