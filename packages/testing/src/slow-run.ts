/**
 * Whether the slow tests run (`SLOW_TESTS=1`). The slow run includes each test file that asks this, and the files
 * `x.slow.test.ts`, which it alone runs.
 */
export const isSlowRun = process.env.SLOW_TESTS === '1'
