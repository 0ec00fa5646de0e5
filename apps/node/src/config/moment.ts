import { parseU64 } from '@ledger-state/core'
import type { Moment } from '@ledger-state/feed'
import { usageError } from '../errors.js'

const SECONDS: Readonly<Record<string, number>> = { m: 60, h: 3_600, d: 86_400, w: 604_800 }

/** A moment, and the words that name it. */
export interface NamedMoment {
  readonly moment: Moment
  readonly words: string
}

/**
 * Reads a version, a date such as `2026-10-01` or `2026-10-01T12:00:00Z` (UTC where no zone is given), or a time ago such as `30d`
 * (`m`, `h`, `d`, `w`).
 * @throws `usage`
 */
export function parseMoment(text: string, now: number = Date.now()): NamedMoment {
  const words = text.trim()
  if (/^\d+$/.test(words)) return { moment: { version: parseU64(words) }, words }
  const [, amount, unit] = /^(\d{1,6})([mhdw])$/.exec(words) ?? []
  if (unit !== undefined) return { moment: toMoment(now - Number(amount) * SECONDS[unit]! * 1_000), words }
  const [date, clock, zone] = [
    /^\d{4}-\d{2}-\d{2}/.exec(words)?.[0],
    /T\d{2}:\d{2}(?::\d{2}(?:\.\d{1,3})?)?/.exec(words)?.[0] ?? '',
    /(?:Z|[+-]\d{2}:\d{2})$/.exec(words.slice(10))?.[0] ?? '',
  ]
  const time = date === undefined ? Number.NaN : Date.parse(`${date}${clock || 'T00:00'}${zone || 'Z'}`)
  if (Number.isNaN(time) || words !== `${date}${clock}${zone}`) {
    throw usageError(`${JSON.stringify(text)} is not a version, a date such as 2026-10-01, or a time ago such as 30d`)
  }
  return { moment: toMoment(time), words }
}

function toMoment(milliseconds: number): Moment {
  return { timeUsec: BigInt(Math.max(0, milliseconds)) * 1_000n }
}
