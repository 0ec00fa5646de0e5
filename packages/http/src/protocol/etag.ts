import type { OutputFormat } from './media-types.js'

/**
 * Entity tag that is the value of the answer itself. A version number does not identify a state: another ledger with
 * the same chain id has other values, and so does another branch of the same one. Replicas of one ledger agree.
 */
export function valueEtag(value: bigint, format: OutputFormat): string {
  return `"${value}-${format}"`
}

/** Whether an `If-None-Match` header names the tag (RFC 9110, 13.1.2: weak comparison). */
export function matchesEtag(header: string | undefined, etag: string): boolean {
  if (header === undefined) return false
  return header.split(',').some((candidate) => {
    const tag = candidate.trim()
    return tag === '*' || tag === etag || tag === `W/${etag}`
  })
}
