/**
 * Whether the slow tests run (`SLOW_TESTS=1`). Where `x.slow.test.ts` imports `x.test.ts`, the same tests have more rounds
 * then, and those that take long run only then.
 */
export const isSlowRun = process.env.SLOW_TESTS === '1'
