/**
 * Whether this is the slow run (`SLOW_TESTS=1`). It has each test file that imports this, and all files
 * `x.slow.test.ts`, which the fast run leaves out.
 */
export const isSlowRun = process.env.SLOW_TESTS === '1'
