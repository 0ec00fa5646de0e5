import { isLedgerStateError, parseU64 } from '@ledger-state/core'
import { invalidTimestamp } from '../errors.js'

/** RFC 3339. A blank stands for the `+` that it was in a query. */
const RFC_3339 = /^(\d{4})-(\d\d)-(\d\d)[Tt ](\d\d):(\d\d):(\d\d)(?:\.(\d+))?(?:[Zz]|([+\- ])(\d\d):(\d\d))$/
const LONGEST_RFC_3339 = 64
const USEC_DIGITS = 6

/**
 * A time in microseconds since 1970: written so, in decimal, or as RFC 3339 with `Z` or an offset. What is finer than a
 * microsecond is cut off.
 * @throws `invalid_timestamp`
 */
export function parseTimestamp(text: string): bigint {
  const parts = text.length <= LONGEST_RFC_3339 ? RFC_3339.exec(text) : null
  return parts ? rfc3339ToMicroseconds(text, parts) : parseMicroseconds(text)
}

function parseMicroseconds(text: string): bigint {
  try {
    return parseU64(text)
  } catch (error) {
    if (!isLedgerStateError(error, 'invalid_u64')) throw error
    throw invalidTimestamp(text, 'expected microseconds since 1970 (u64), or RFC 3339 with Z or an offset')
  }
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
  if (!isTime || !isDate(year, month, day)) throw invalidTimestamp(text, 'there is no such date or time')
  // A leap second is the first second of the next minute, as in the time of POSIX.
  const localMs = Date.UTC(year, month - 1, day, hour, minute, second)
  const offsetMs = (offsetHour * 60 + offsetMinute) * 60_000 * (parts[8] === '-' ? -1 : 1)
  const usec = BigInt((parts[7] ?? '').slice(0, USEC_DIGITS).padEnd(USEC_DIGITS, '0'))
  const timestampUsec = BigInt(localMs - offsetMs) * 1_000n + usec
  // `Date.UTC` takes years below 100 for those of the twentieth century.
  if (year < 100 || timestampUsec < 0n) throw invalidTimestamp(text, 'it is before 1970')
  return timestampUsec
}

function isDate(year: number, month: number, day: number): boolean {
  const date = new Date(Date.UTC(year, month - 1, day))
  return date.getUTCMonth() === month - 1 && date.getUTCDate() === day
}
