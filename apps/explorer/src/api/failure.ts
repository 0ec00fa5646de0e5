import type { StateHead } from './state-head.ts'

/** Why there is nothing to show. */
export interface Failure {
  readonly kind: 'absent' | 'pruned' | 'future' | 'invalid' | 'overloaded' | 'unreachable' | 'failed'
  readonly message: string
  /** Where the window begins, if it was asked for something before it. */
  readonly oldestVersion?: string | undefined
  /** A service that still has what was pruned here. */
  readonly archivalEndpoint?: string | undefined
  /** After which asking again may help. */
  readonly retryAfterMs?: number | undefined
}

interface ErrorBody {
  readonly message?: string
  readonly error_code?: string
  readonly oldest_ledger_version?: string
  readonly archival_endpoint?: string
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
  if (status === 503) return { kind: 'overloaded', message, retryAfterMs: 1_000 * Number(retryAfter ?? 2) }
  return { kind: status === 400 ? 'invalid' : 'failed', message }
}

function toErrorBody(text: string): ErrorBody {
  try {
    return JSON.parse(text) as ErrorBody
  } catch {
    return {}
  }
}
