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

/** An answer that is an error. */
interface ErrorAnswer {
  readonly status: number
  readonly text: string
  readonly head: StateHead | undefined
  /** The header `retry-after`. */
  readonly retryAfter: string | null
  /** Versions, heights and times that the request names. */
  readonly states: readonly string[]
}

/** Whether a node with a part of the ledger does not have the data in any state. */
export function isLeftOut({ kind, oldestVersion }: Failure): boolean {
  return kind === 'pruned' && oldestVersion === undefined
}

export function toFailure({ status, text, head, retryAfter, states }: ErrorAnswer): Failure {
  const body = toErrorBody(text)
  const message = body.message ?? `the node answered ${status}`
  if (status === 410) {
    const oldest = body.oldest_ledger_version ?? head?.oldestVersion
    // A node with a part of the ledger refuses the rest with this status in each state.
    const isEarlier = oldest !== undefined && states.some((state) => isBefore(state, oldest))
    return {
      kind: 'pruned',
      message,
      archivalEndpoint: body.archival_endpoint,
      ...(isEarlier && { oldestVersion: oldest }),
    }
  }
  if (status === 404) return { kind: body.error_code === 'version_not_found' ? 'future' : 'absent', message }
  if (BUSY.includes(status))
    return {
      kind: 'overloaded',
      message,
      retryAfterMs: Math.max(parseRetryAfter(retryAfter, LONGEST_RETRY_MS) ?? 0, SHORTEST_RETRY_MS),
    }
  const isSwitchedOff = body.error_code === 'api_disabled'
  return { kind: status === 400 ? 'invalid' : 'failed', message, ...(isSwitchedOff && { isSwitchedOff }) }
}

/** Whether a state is before a version. A time counts as one. A height is at most the version of its block. */
function isBefore(state: string, version: string): boolean {
  return !/^\d+$/.test(state) || BigInt(state) < BigInt(version)
}

/** Statuses that pass: of a busy node, or of a proxy that limits requests or has no node for a moment. */
const BUSY: readonly number[] = [429, 502, 503, 504]
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
