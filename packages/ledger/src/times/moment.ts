import { parseU64 } from '@ledger-state/core'
import type { Ledger } from '../state/ledger.js'
import { parseTimestamp } from './parse-timestamp.js'

/** A version, or a time in microseconds since 1970. */
export type Moment = { readonly version: bigint } | { readonly timestampUsec: bigint }

/**
 * Reads a version in decimal, or a time as RFC 3339 or a date; times have hyphens.
 * @throws `invalid_u64`, `invalid_timestamp`
 * @example
 * ```ts
 * import { parseMoment } from '@ledger-state/ledger'
 *
 * console.log(parseMoment('17'), parseMoment('1970-01-01T00:00:01Z')) // { version: 17n } { timestampUsec: 1000000n }
 * ```
 */
export function parseMoment(text: string): Moment {
  return text.includes('-') ? { timestampUsec: parseTimestamp(text) } : { version: parseU64(text) }
}

/** The time that a moment names; undefined for a version. */
export function momentToTime(moment: Moment | undefined): bigint | undefined {
  return moment && 'timestampUsec' in moment ? moment.timestampUsec : undefined
}

/**
 * The last version at or before a moment.
 * @throws as `Ledger.versionAtTime`
 */
export function lastVersionOf(ledger: Pick<Ledger, 'versionAtTime'>, moment: Moment): bigint {
  return 'version' in moment ? moment.version : ledger.versionAtTime(moment.timestampUsec)
}

/**
 * The first version at or after a moment; 0 for a time before the oldest block.
 * @throws `no_ledger`; `version_not_found` for a time after now
 */
export function firstVersionOf(ledger: Pick<Ledger, 'at' | 'versionAtTime'>, moment: Moment): bigint {
  if ('version' in moment) return moment.version
  const { timestampUsec } = moment
  const { oldestBlock, oldestVersion, latestBlock } = ledger.at().ledger
  if (timestampUsec === oldestBlock.timestampUsec) return oldestVersion
  if (timestampUsec < oldestBlock.timestampUsec) return 0n
  // Refuses a time after now by its own name. Looking up two times takes two rounds over an async ledger.
  if (timestampUsec > latestBlock.timestampUsec) ledger.versionAtTime(timestampUsec)
  return ledger.versionAtTime(timestampUsec - 1n) + 1n
}
