import { branchOf } from '@ledger-state/engine'
import type { LedgerState } from '@ledger-state/ledger'
import type { OutputFormat } from './media-types.js'

/**
 * Entity tag of an answer that depends only on its URL and the state at a version. No content is hashed: within a
 * chain, a version identifies its state until the ledger is truncated.
 */
export function stateEtag(state: LedgerState, format: OutputFormat): string {
  const branch = branchOf(state.ledger)
  return `"${state.ledger.chainId}-${branch > 0 ? `${branch}.` : ''}${state.version}-${format}"`
}

/** Whether an `If-None-Match` header names the tag (RFC 9110, 13.1.2: weak comparison). */
export function matchesEtag(header: string | undefined, etag: string): boolean {
  if (header === undefined) return false
  return header.split(',').some((candidate) => {
    const tag = candidate.trim()
    return tag === '*' || tag === etag || tag === `W/${etag}`
  })
}
