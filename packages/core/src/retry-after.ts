/**
 * The milliseconds, at most `longestMs`, that a `Retry-After` header asks to wait, in seconds or by a date (RFC 9110, section
 * 10.2.3): 0 for a date that is past, undefined for no header or one that is neither.
 */
export function parseRetryAfter(
  header: string | null,
  longestMs: number,
  now: number = Date.now(),
): number | undefined {
  if (header === null) return undefined
  const milliseconds = /^\d+$/.test(header) ? Number(header) * 1_000 : Date.parse(header) - now
  return Number.isNaN(milliseconds) ? undefined : Math.min(Math.max(milliseconds, 0), longestMs)
}
