import { isLedgerStateError, parseU64 } from '@ledger-state/core'
import { invalidTimestamp } from '../errors.js'
import { formatTimestamp } from './format-timestamp.js'

/** A time as RFC 3339. A blank is accepted for `+`, because a query decodes `+` as a blank. */
const RFC_3339 = /^(\d{4})-(\d\d)-(\d\d)[Tt ](\d\d):(\d\d):(\d\d)(?:\.(\d+))?(?:[Zz]|([+\- ])(\d\d):(\d\d))$/
const DATE = /^\d{4}-\d\d-\d\d$/
const DATE_LENGTH = 10
const LONGEST_RFC_3339 = 64
const USEC_DIGITS = 6

/**
 * Units that may be mistaken for microseconds. Their numbers, read as microseconds, would be in the first months of
 * 1970.
 */
const COARSER_UNITS = [
  { name: 'seconds', least: 1_000_000_000n, microseconds: 1_000_000n },
  { name: 'milliseconds', least: 1_000_000_000_000n, microseconds: 1_000n },
] as const
/** Digits of a time in seconds from September 2001 to November 2286. */
const DECADE_OF_DIGITS = 10n

/**
 * Reads a time as microseconds since 1970. The text is that number in decimal, or RFC 3339 with `Z` or an offset. A
 * date without a time means its first microsecond in UTC. Digits beyond microseconds are cut off.
 * @throws `invalid_timestamp`, even for numbers that look like seconds or milliseconds
 */
export function parseTimestamp(text: string): bigint {
  const whole = text.length === DATE_LENGTH && DATE.test(text) ? `${text}T00:00:00Z` : text
  const parts = whole.length <= LONGEST_RFC_3339 ? RFC_3339.exec(whole) : null
  return parts ? rfc3339ToMicroseconds(text, parts) : parseMicroseconds(text)
}

function parseMicroseconds(text: string): bigint {
  let number: bigint
  try {
    number = parseU64(text)
  } catch (error) {
    if (!isLedgerStateError(error, 'invalid_u64')) throw error
    const forms = 'microseconds since 1970 (u64), RFC 3339 with Z or an offset, or a date such as 2025-01-01'
    throw invalidTimestamp.notATime(text, `expected ${forms}`)
  }
  for (const { name, least, microseconds } of COARSER_UNITS) {
    if (number < least || number >= least * DECADE_OF_DIGITS) continue
    const meant = number * microseconds
    const why = `in microseconds it is ${formatTimestamp(number)}; for ${formatTimestamp(meant)}, which it is in ${name}, send ${meant}`
    throw invalidTimestamp.notATime(text, why)
  }
  return number
}

function rfc3339ToMicroseconds(text: string, parts: readonly (string | undefined)[]): bigint {
  const [year, month, day, hour, minute, second] = parts.slice(1, 7).map(Number) as [
    number,
    number,
    number,
    number,
    number,
    number,
  ]
  const [offsetHour, offsetMinute] = [Number(parts[9] ?? 0), Number(parts[10] ?? 0)]
  const isTime = hour < 24 && minute < 60 && second <= 60 && offsetHour < 24 && offsetMinute < 60
  if (!isTime || !isDate(year, month, day)) throw invalidTimestamp.notATime(text, 'there is no such date or time')
  // A leap second is the first second of the next minute, as in POSIX time.
  const localMs = Date.UTC(year, month - 1, day, hour, minute, second)
  const offsetMs = (offsetHour * 60 + offsetMinute) * 60_000 * (parts[8] === '-' ? -1 : 1)
  const usec = BigInt((parts[7] ?? '').slice(0, USEC_DIGITS).padEnd(USEC_DIGITS, '0'))
  const timestampUsec = BigInt(localMs - offsetMs) * 1_000n + usec
  // `Date.UTC` would move years below 100 into the twentieth century.
  if (year < 100 || timestampUsec < 0n) throw invalidTimestamp.notATime(text, 'it is before 1970')
  return timestampUsec
}

function isDate(year: number, month: number, day: number): boolean {
  const date = new Date(Date.UTC(year, month - 1, day))
  return date.getUTCMonth() === month - 1 && date.getUTCDate() === day
}
