/** No upstream keeps us from asking it for longer than this. */
const MOST_SECONDS = 3_600

/** The seconds that a `Retry-After` header asks for, whole and at least 1; undefined where it says nothing readable. */
export function parseRetryAfter(header: string | null, now: number): number | undefined {
  if (header === null) return undefined
  const isNumber = /^\d{1,15}$/.test(header)
  const seconds = isNumber ? Number(header) : Math.ceil((Date.parse(header) - now) / 1_000)
  return Number.isNaN(seconds) ? undefined : Math.min(Math.max(seconds, 1), MOST_SECONDS)
}
