const DIVISORS: Readonly<Record<string, number>> = { all: 1, half: 2, third: 3 }

/** One of this number of slow files of a package runs, as `SLOW_FILES` says: `all` (unless it is set), `half` or `third`. */
export function slowShareDivisor(): number {
  const { SLOW_FILES = 'all' } = process.env
  const divisor = DIVISORS[SLOW_FILES]
  if (divisor === undefined) throw new Error(`SLOW_FILES=${SLOW_FILES}, not one of ${Object.keys(DIVISORS)}`)
  return divisor
}

/**
 * Rounds of a random test in the slow run: `count`, or the share of it that `SLOW_FILES` names, because the next run
 * has other seeds.
 */
export function slowRounds(count: number): number {
  return Math.ceil(count / slowShareDivisor())
}
