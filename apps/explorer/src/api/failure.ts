import { parseRetryAfter } from '@ledger-state/core'
import type { ErrorBody } from './answers.ts'
import type { StateHead } from './state-head.ts'

/** Reason why there is nothing to show. */
export interface Failure {
  readonly kind: 'absent' | 'pruned' | 'future' | 'invalid' | 'overloaded' | 'unreachable' | 'failed'
  readonly message: string
  /** First version of the window, if an earlier one was asked for. */
  readonly oldestVersion?: string | undefined
  /** A service that still has the data that was pruned here. */
  readonly archivalEndpoint?: string | undefined
  /** Whether the operation is switched off, or not there, on this node. */
  readonly isSwitchedOff?: boolean | undefined
  /** Milliseconds after which asking again may help. */
  readonly retryAfterMs?: number | undefined
}

export function toFailure(
  status: number,
  text: string,
  head: StateHead | undefined,
  retryAfter: string | null,
): Failure {
  const body = toErrorBody(text)
  const message = body.message ?? `the node answered ${status}`
  if (status === 410) {
    const oldestVersion = body.oldest_ledger_version ?? head?.oldestVersion
    return { kind: 'pruned', message, oldestVersion, archivalEndpoint: body.archival_endpoint }
  }
  if (status === 404) return { kind: body.error_code === 'version_not_found' ? 'future' : 'absent', message }
  if (status === 503)
    return {
      kind: 'overloaded',
      message,
      retryAfterMs: Math.max(parseRetryAfter(retryAfter, LONGEST_RETRY_MS) ?? 0, SHORTEST_RETRY_MS),
    }
  const isSwitchedOff = body.error_code === 'api_disabled'
  return { kind: status === 400 ? 'invalid' : 'failed', message, ...(isSwitchedOff && { isSwitchedOff }) }
}

const SHORTEST_RETRY_MS = 1_000
const LONGEST_RETRY_MS = 30_000

function toErrorBody(text: string): ErrorBody {
  try {
    const body: unknown = JSON.parse(text)
    return typeof body === 'object' && body !== null ? (body as ErrorBody) : {}
  } catch {
    return {}
  }
}
