import { setTimeout as sleep } from 'node:timers/promises'
import { LedgerStateError } from '@ledger-state/core'

const REQUEST_TIMEOUT_MS = 30_000
const FIRST_PAUSE_MS = 250
const LONGEST_PAUSE_MS = 30_000
const LONGEST_RETRY_AFTER_MS = 300_000

/** An answer of 10 MB holds 100 transactions with all they write; this is far above. */
const MAX_ANSWER_BYTES = 64 * 1024 * 1024

export interface FetchOptions {
  readonly accept: string
  /** Ends requests and pauses; `undefined` is then the answer. */
  readonly signal: AbortSignal | undefined
  /** Attempts before it is given up; no limit for who waits as long as it takes. */
  readonly attempts: number
  readonly onNotice: (message: string) => void
}

export interface FetchAnswer {
  readonly status: number
  readonly headers: Headers
  readonly body: Buffer
}

/**
 * GET, again after a pause where the server is not reached, breaks off, is too busy or fails (429, 5xx). Pauses double
 * and are drawn at random around that; `Retry-After` is heeded. Other statuses are the caller's.
 * @throws `source_failed` when the attempts are used up
 */
export async function fetchRetrying(url: string, options: FetchOptions): Promise<FetchAnswer | undefined> {
  const { signal, attempts, onNotice } = options
  for (let attempt = 1; ; attempt++) {
    if (signal?.aborted) return undefined
    const { answer, why, retryAfterMs } = await fetchOnce(url, options)
    if (answer) return answer
    if (signal?.aborted) return undefined
    if (attempt >= attempts) {
      throw new LedgerStateError('source_failed', `GET ${url} failed ${attempt} times; the last time: ${why}`)
    }
    const doubled = Math.min(LONGEST_PAUSE_MS, FIRST_PAUSE_MS * 2 ** (attempt - 1))
    const pause = Math.max(doubled * (0.5 + Math.random()), Math.min(retryAfterMs, LONGEST_RETRY_AFTER_MS))
    onNotice(`GET ${url}: ${why}; asking again in ${(pause / 1000).toFixed(1)} s`)
    await pauseFor(pause, signal)
  }
}

/** Resolves after so many milliseconds, or when the signal is aborted. */
export async function pauseFor(milliseconds: number, signal: AbortSignal | undefined): Promise<void> {
  await sleep(milliseconds, undefined, signal && { signal }).catch(() => {})
}

interface Attempt {
  readonly answer?: FetchAnswer
  readonly why: string
  readonly retryAfterMs: number
}

async function fetchOnce(url: string, { accept, signal }: FetchOptions): Promise<Attempt> {
  const limits = [AbortSignal.timeout(REQUEST_TIMEOUT_MS), ...(signal ? [signal] : [])]
  try {
    const response = await fetch(url, { headers: { accept }, signal: AbortSignal.any(limits) })
    const { status, headers } = response
    if (status === 429 || status >= 500) {
      await response.body?.cancel()
      return { why: `status ${status}`, retryAfterMs: parseRetryAfter(headers.get('retry-after')) }
    }
    return { answer: { status, headers, body: await readBody(response) }, why: '', retryAfterMs: 0 }
  } catch (error) {
    const cause = error instanceof Error && error.cause instanceof Error ? `: ${error.cause.message}` : ''
    return { why: `${(error as Error).message}${cause}`, retryAfterMs: 0 }
  }
}

async function readBody(response: Response): Promise<Buffer> {
  const pieces: Uint8Array[] = []
  let length = 0
  for await (const piece of response.body ?? []) {
    pieces.push(piece)
    length += piece.length
    if (length > MAX_ANSWER_BYTES) throw new Error(`the answer is longer than ${MAX_ANSWER_BYTES} bytes`)
  }
  return Buffer.concat(pieces)
}

/** Seconds or a date. */
function parseRetryAfter(text: string | null): number {
  if (text === null) return 0
  const seconds = Number(text)
  const milliseconds = Number.isFinite(seconds) ? seconds * 1000 : Date.parse(text) - Date.now()
  return Number.isFinite(milliseconds) ? Math.max(0, milliseconds) : 0
}
