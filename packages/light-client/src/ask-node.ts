import {
  fetchFailure,
  isLedgerStateError,
  isRedirect,
  refusedRedirect,
  sameServerTarget,
  statusFailure,
} from '@ledger-state/core'
import { invalidAnswer } from './errors.js'
import { readBody } from './read-body.js'

const TIMEOUT_MS = 30_000
const MOST_REDIRECTS = 5

/** The way in which requests are sent. */
export interface Sender {
  /** Sends a request; by default the runtime's. */
  readonly fetch: typeof globalThis.fetch
  /** Time for one answer, with its redirects and its body, in milliseconds; 30,000 by default. */
  readonly timeoutMs?: number | undefined
  /** Ends the requests: its reason is thrown. */
  readonly signal?: AbortSignal | undefined
}

/**
 * Sends a request to a node and reads the body of the answer. It ends after a time, and follows redirects only on the
 * same server. A browser does not show where a redirect leads, so none is followed there.
 * @throws `invalid_answer` if the node does not answer, or refuses the request; the reason of the signal
 */
export async function askNode(sender: Sender, url: string, init: RequestInit): Promise<Uint8Array> {
  const { fetch, timeoutMs = TIMEOUT_MS } = sender
  const limit = AbortSignal.timeout(timeoutMs)
  const signal = sender.signal ? AbortSignal.any([sender.signal, limit]) : limit
  try {
    const response = await followRedirects(fetch, url, { ...init, redirect: 'manual', signal })
    const body = await readBody(response)
    if (!response.ok) throw invalidAnswer.noAnswer(statusFailure(response, new TextDecoder().decode(body)))
    return body
  } catch (error) {
    sender.signal?.throwIfAborted()
    throw isLedgerStateError(error) ? error : invalidAnswer.noAnswer(fetchFailure(error), error)
  }
}

async function followRedirects(fetch: typeof globalThis.fetch, url: string, init: RequestInit): Promise<Response> {
  let place = url
  for (let redirects = 0; ; redirects++) {
    const response = await fetch(place, init)
    if (response.type === 'opaqueredirect') throw invalidAnswer.noAnswer(HIDDEN_REDIRECT)
    const { status, headers } = response
    if (!isRedirect(status)) return response
    await response.body?.cancel()
    // A `POST` that became a `GET` would ask something else.
    const isSameRequest = init.method !== 'POST' || status === 307 || status === 308
    const to = isSameRequest ? sameServerTarget(place, headers) : undefined
    if (to === undefined) throw invalidAnswer.noAnswer(refusedRedirect(place, status, headers))
    if (redirects === MOST_REDIRECTS) {
      throw invalidAnswer.noAnswer(`status ${status}, one redirect of many: not followed`)
    }
    place = to
  }
}

const HIDDEN_REDIRECT = 'it redirects, which is not followed in a browser: give the URL that it leads to'
