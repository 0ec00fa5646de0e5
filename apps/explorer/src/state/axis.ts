import { LAST_MICROSECOND } from './amount.ts'

const MICROSECONDS = 1_000_000n
/** Seconds between ticks of time: parts of a minute, an hour, a day; then days in ones, twos and fives. */
const SECONDS = [1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 900, 1_800, 3_600, 7_200, 10_800, 21_600, 43_200]
const DAY = 86_400

/** About `most` round versions within a range; empty if the range is. */
export function versionTicks(first: bigint, last: bigint, most: number): readonly bigint[] {
  if (last <= first) return []
  return multiples(first, last, roundStep((last - first) / BigInt(most) + 1n))
}

export interface TimeTicks {
  /** Times in microseconds since 1970. */
  readonly times: readonly bigint[]
  /** Seconds between two ticks. */
  readonly step: number
}

/** About `most` round times within a range in microseconds since 1970; empty if the range is. */
export function timeTicks(first: bigint, last: bigint, most: number): TimeTicks {
  if (last <= first || last > LAST_MICROSECOND) return { times: [], step: DAY }
  const least = Number((last - first) / MICROSECONDS) / most
  const step = SECONDS.find((one) => one >= least) ?? DAY * Number(roundStep(BigInt(Math.ceil(least / DAY))))
  return { times: multiples(first, last, BigInt(step) * MICROSECONDS), step }
}

/** A time in UTC, as short as the step between ticks allows. Midnight is written as a day. */
export function timeTickText(microseconds: bigint, step: number): string {
  const text = new Date(Number(microseconds / 1_000n)).toISOString()
  if (step >= DAY || text.slice(11, 19) === '00:00:00') return text.slice(0, 10)
  return step >= 60 ? text.slice(11, 16) : text.slice(11, 19)
}

/** The smallest 1, 2 or 5 with zeros that is at least `least`. */
function roundStep(least: bigint): bigint {
  for (let power = 1n; ; power *= 10n) for (const one of [1n, 2n, 5n]) if (one * power >= least) return one * power
}

function multiples(first: bigint, last: bigint, step: bigint): readonly bigint[] {
  const found: bigint[] = []
  for (let one = ((first + step - 1n) / step) * step; one <= last; one += step) found.push(one)
  return found
}
