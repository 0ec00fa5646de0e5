import { fetchFailure, isLedgerStateError, statusFailure } from '@ledger-state/core'
import { invalidAnswer } from './errors.js'
import { readBody } from './read-body.js'

const TIMEOUT_MS = 30_000

/**
 * Sends a request to a node and reads the body of the answer. It ends after a time, and follows no redirect to a server
 * that nobody named.
 * @throws `invalid_answer` if the node does not answer, or refuses the request
 */
export async function askNode(fetch: typeof globalThis.fetch, url: string, request: RequestInit): Promise<Uint8Array> {
  try {
    const response = await fetch(url, { ...request, redirect: 'error', signal: AbortSignal.timeout(TIMEOUT_MS) })
    const body = await readBody(response)
    if (!response.ok) throw invalidAnswer.noAnswer(statusFailure(response, new TextDecoder().decode(body)))
    return body
  } catch (error) {
    throw isLedgerStateError(error) ? error : invalidAnswer.noAnswer(fetchFailure(error), error)
  }
}
