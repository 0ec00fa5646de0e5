/** What one thing measured costs, in nanoseconds an operation. */
export interface Measurement {
  readonly median: number
  readonly least: number
  readonly most: number
}

const ROUNDS = 9
const ROUND_MS = 60
const WARM_UP_MS = 120

/**
 * Times functions in interleaved rounds A B C A B C …, so that what else the machine does hits all of them alike.
 * Each call of a function is one operation; its result is kept alive.
 */
export function measure(contenders: readonly (() => unknown)[]): Measurement[] {
  for (const run of contenders) timeRound(run, WARM_UP_MS)
  const samples = contenders.map((): number[] => [])
  for (let round = 0; round < ROUNDS; round++) {
    for (const [at, run] of contenders.entries()) samples[at]!.push(timeRound(run, ROUND_MS))
  }
  return samples.map((rounds) => {
    const sorted = [...rounds].sort((a, b) => a - b)
    return { median: sorted[ROUNDS >> 1]!, least: sorted[0]!, most: sorted.at(-1)! }
  })
}

let kept: unknown

function timeRound(run: () => unknown, milliseconds: number): number {
  const began = performance.now()
  let count = 0
  let elapsed = 0
  do {
    for (let batch = 0; batch < 8; batch++) kept = run()
    count += 8
    elapsed = performance.now() - began
  } while (elapsed < milliseconds)
  return (elapsed * 1e6) / count
}

/** Keeps the last result reachable, so that no call is dead code. */
export function lastResult(): unknown {
  return kept
}
