import type { WindowBound } from '@ledger-state/feed'
import { usageError } from '../errors.js'
import { parseWhole } from './option.js'

const SECONDS: Readonly<Record<string, number>> = { m: 60, h: 3_600, d: 86_400, w: 604_800 }

/** A bound of a window, with the words that name it. */
export interface NamedBound {
  readonly bound: WindowBound
  readonly words: string
}

/**
 * Reads a version, a date such as `2026-10-01` or `2026-10-01T12:00:00Z` (UTC if no zone is given), or a time ago such
 * as `30d` (`m`, `h`, `d`, `w`).
 * @throws `usage`
 */
export function parseWindowBound(text: string, now: number = Date.now()): NamedBound {
  const words = text.trim()
  if (/^\d+$/.test(words)) return { bound: { version: parseWhole(words) }, words }
  const [, amount, unit] = /^(\d{1,6})([mhdw])$/.exec(words) ?? []
  if (unit !== undefined) return { bound: toBound(now - Number(amount) * SECONDS[unit]! * 1_000), words }
  const [date, clock, zone] = [
    /^\d{4}-\d{2}-\d{2}/.exec(words)?.[0],
    /T\d{2}:\d{2}(?::\d{2}(?:\.\d{1,3})?)?/.exec(words)?.[0] ?? '',
    /(?:Z|[+-]\d{2}:\d{2})$/.exec(words.slice(10))?.[0] ?? '',
  ]
  const time = date === undefined ? Number.NaN : Date.parse(`${date}${clock || 'T00:00'}${zone || 'Z'}`)
  if (Number.isNaN(time) || words !== `${date}${clock}${zone}` || !isDate(date!)) {
    throw usageError(`${JSON.stringify(text)} is not a version, a date such as 2026-10-01, or a time ago such as 30d`)
  }
  if (time > now) {
    const clock = new Date(now).toISOString()
    throw usageError(`${JSON.stringify(text)} is in the future: the clock of this machine says ${clock}`)
  }
  return { bound: toBound(time), words }
}

/** `Date.parse` takes February 30 for March 2. */
function isDate(date: string): boolean {
  const time = Date.parse(`${date}T00:00Z`)
  return !Number.isNaN(time) && new Date(time).toISOString().startsWith(date)
}

function toBound(milliseconds: number): WindowBound {
  return { timeUsec: BigInt(Math.max(0, milliseconds)) * 1_000n }
}
