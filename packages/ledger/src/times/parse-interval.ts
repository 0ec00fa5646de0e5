import { invalidTimestamp } from '../errors.js'

const SECOND = 1_000_000n
const UNITS: Readonly<Record<string, bigint>> = { s: 1n, m: 60n, h: 3_600n, d: 86_400n, w: 604_800n }

/**
 * Reads a duration such as `30s`, `15m`, `1h`, `1d` or `1w`, as microseconds.
 * @throws `invalid_timestamp`
 * @example
 * ```ts
 * import { parseInterval } from '@ledger-state/ledger'
 *
 * console.log(parseInterval('15m')) // 900000000n
 * ```
 */
export function parseInterval(text: string): bigint {
  const [, count, unit] = /^([1-9]\d{0,5})([smhdw])$/.exec(text) ?? []
  if (count === undefined || unit === undefined) throw invalidTimestamp.invalidInterval(text)
  return BigInt(count) * UNITS[unit]! * SECOND
}
