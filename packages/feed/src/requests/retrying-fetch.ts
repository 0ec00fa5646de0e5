import type { Buffer } from 'node:buffer'
import { Backoff, type LedgerStateError, pauseFor } from '@ledger-state/core'
import { bodyOfAnswer, failureOf, followNone, type RequestFailure, sendRequest } from '@ledger-state/core/requests'
import { requestRefused, sourceFailed } from '../errors.js'
import { viewAsBuffer } from '../view-as-buffer.js'
import { FETCH_ENCODINGS } from './fetch-encodings.js'

const REQUEST_TIMEOUT_MS = 30_000
const FIRST_PAUSE_MS = 250
const LONGEST_PAUSE_MS = 30_000

/** Most bytes of a description: an index has hundreds. */
const MOST_DESCRIPTION_BYTES = 1024 * 1024

/** Advice for a server that answers wrongly again and again. */
const IF_IT_LASTS = '; if it lasts, use another node'

export interface FetchOptions {
  readonly accept: string
  /** Further headers. If there are any, redirects are not followed. */
  readonly headers?: Readonly<Record<string, string>> | undefined
  /** Ends requests and pauses; the result is then undefined. */
  readonly signal: AbortSignal | undefined
  /** Requests before the caller gets an error; infinite for a caller that waits without end. */
  readonly attempts: number
  /** Unusable answers before the caller gets an error. */
  readonly unusableAnswers: number
  /** Pause after the first failure, 250 ms by default; each further failure doubles it, up to 30 s. */
  readonly firstPauseMs?: number | undefined
  /** Most bytes of an answer, 1 MiB by default. */
  readonly mostBytes?: number | undefined
  /** Whether a longer answer may fit when it is asked for again, as the next URL asks for less. */
  readonly asksForLess?: boolean | undefined
  /** Called with the number of bytes of each piece of an answer. */
  readonly onBytes?: ((bytes: number) => void) | undefined
  readonly onNotice: (message: string) => void
}

export interface FetchAnswer {
  readonly status: number
  readonly headers: Headers
  readonly body: Buffer
  /** Milliseconds from the request to the last byte. */
  readonly milliseconds: number
}

/** Value that was read from an answer, or the reason why this answer cannot be used although another may. */
export type AnswerReading<T> = { readonly value: T } | { readonly unusable: LedgerStateError }

/**
 * Makes a GET request, and repeats it after a pause if the server is not reached, breaks off, is too busy or fails
 * (429, 5xx), or if `read` cannot use the answer. Pauses double, and `Retry-After` is respected.
 * @param urlNow asked for before each request
 * @throws `source_failed` when the attempts are used up, and at once for a URL, a certificate or a redirect that is refused,
 *   unless they are infinite; errors of `read`, and the last `unusable`
 */
export async function fetchRetrying<T>(
  urlNow: () => string,
  options: FetchOptions,
  read: (answer: FetchAnswer) => AnswerReading<T> | Promise<AnswerReading<T>>,
): Promise<T | undefined> {
  const { signal, attempts, unusableAnswers, firstPauseMs, onNotice } = options
  const backoff = createBackoff(firstPauseMs)
  let unusable = 0
  for (let attempt = 1; ; attempt++) {
    if (signal?.aborted) return undefined
    const url = urlNow()
    const failure = await fetchOnce(url, options, read)
    if ('value' in failure) return failure.value
    if (signal?.aborted) return undefined
    if (failure.unusable && (++unusable >= unusableAnswers || attempt >= attempts)) throw failure.unusable
    // A URL, a certificate or a redirect that is refused, or an answer that is always too long, ends the attempts, unless the
    // caller waits without end: only then may it be mended meanwhile.
    if (failure.isFinal && attempts !== Number.POSITIVE_INFINITY)
      throw failure.unusable ?? requestRefused(url, failure.why, failure.status)
    const isAbsent = failure.isUnreachable && attempt === 1
    if (isAbsent && attempts !== Number.POSITIVE_INFINITY) throw sourceFailed.unreachable(url, failure.why)
    if (attempt >= attempts) throw sourceFailed.requestsFailed(url, attempt, failure.why)
    const pause = backoff.next(failure.retryAfterMs)
    onNotice(
      failure.unusable
        ? `${failure.why}; ${askingAgain(pause)}${IF_IT_LASTS}`
        : `GET ${url}: ${failure.why}; ${askingAgain(pause)}`,
    )
    await pauseFor(pause, signal)
  }
}

/** Pauses before a source is asked again, doubling with each failure. */
export function createBackoff(firstMs: number = FIRST_PAUSE_MS, longestMs: number = LONGEST_PAUSE_MS): Backoff {
  return new Backoff({ firstMs, longestMs })
}

export function askingAgain(pauseMs: number): string {
  return `asking again in ${(pauseMs / 1000).toFixed(1)} s`
}

interface Failure extends RequestFailure {
  readonly unusable?: LedgerStateError
}

async function fetchOnce<T>(
  url: string,
  options: FetchOptions,
  read: (answer: FetchAnswer) => AnswerReading<T> | Promise<AnswerReading<T>>,
): Promise<{ readonly value: T } | Failure> {
  const answer = await request(url, options)
  if ('why' in answer) return answer
  const reading = await read(answer)
  if ('value' in reading) return reading
  return { why: reading.unusable.message, retryAfterMs: 0, unusable: reading.unusable }
}

async function request(url: string, options: FetchOptions): Promise<FetchAnswer | Failure> {
  const { accept, headers: more, signal, mostBytes = MOST_DESCRIPTION_BYTES, asksForLess, onBytes } = options
  const limits = [AbortSignal.timeout(REQUEST_TIMEOUT_MS), ...(signal ? [signal] : [])]
  const began = performance.now()
  const answer = await sendRequest(url, {
    headers: { ...more, accept, 'accept-encoding': FETCH_ENCODINGS },
    ...(more && { redirectTarget: followNone }),
    signal: AbortSignal.any(limits),
  })
  if ('why' in answer) return answer
  try {
    const body = await bodyOfAnswer(answer, mostBytes, onBytes)
    if (!body) return tooLong(url, mostBytes, asksForLess)
    const { status, headers } = answer
    return { status, headers, body: viewAsBuffer(body), milliseconds: performance.now() - began }
  } catch (error) {
    return failureOf(error)
  }
}

function tooLong(url: string, mostBytes: number, asksForLess = false): Failure {
  if (asksForLess) return { why: `the answer is longer than ${mostBytes} bytes`, retryAfterMs: 0 }
  const unusable = sourceFailed.answerTooLong(url, mostBytes)
  return { why: unusable.message, retryAfterMs: 0, isFinal: true, unusable }
}
