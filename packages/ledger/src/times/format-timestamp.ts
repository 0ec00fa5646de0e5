const USEC_PER_SECOND = 1_000_000n
/** Largest number of seconds that `Date` can hold. */
const LAST_SECOND = 8_640_000_000_000n

/**
 * A time in microseconds since 1970 as ISO 8601 in UTC, with six digits after the point unless all are zero. After the
 * year 275760 it is the decimal number of microseconds.
 * @example
 * ```ts
 * import { formatTimestamp } from '@ledger-state/ledger'
 *
 * console.log(formatTimestamp(1_735_691_100_000_000n)) // 2025-01-01T00:25:00Z
 * ```
 */
export function formatTimestamp(timestampUsec: bigint): string {
  const seconds = timestampUsec / USEC_PER_SECOND
  if (seconds > LAST_SECOND) return String(timestampUsec)
  const fraction = timestampUsec % USEC_PER_SECOND
  const text = new Date(Number(seconds) * 1_000).toISOString().slice(0, -'.000Z'.length)
  return fraction === 0n ? `${text}Z` : `${text}.${String(fraction).padStart(6, '0')}Z`
}
