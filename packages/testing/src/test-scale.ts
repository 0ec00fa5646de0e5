/**
 * Scale of the long tests, `TEST_SCALE`: 1 by default. Below 1, a run takes this share of the slow files and of their rounds,
 * an eighth of the heavy files and of those with a slow run, tests each file of a portable package on one runtime, and a third
 * of them in a browser: `.ci/run` uses 1/32. Above 1, random tests make more rounds.
 */
export function testScale(): number {
  const text = process.env.TEST_SCALE || '1'
  const scale = Number(text)
  if (!(scale > 0 && scale <= 1_000)) throw new Error(`TEST_SCALE=${text} is not a number above 0, up to 1000`)
  return scale
}

/** Rounds of a random test whose default is `count`. */
export function scaledRounds(count: number): number {
  return Math.ceil(count * testScale())
}

/** Rounds of a test that a `TEST_SCALE` below 1 does not shorten. */
export function fullRounds(count: number): number {
  return Math.ceil(count * Math.max(1, testScale()))
}
