import { fileURLToPath } from 'node:url'
import { isSlowRun } from '@ledger-state/testing/slow-run'
import { vitestConfig } from '@ledger-state/testing/vitest-config'
import { mergeConfig } from 'vitest/config'

/** Patience in milliseconds, below the time limit of a test, so that a poll that fails says what it saw last. */
const POLL_PATIENCE_MS = isSlowRun ? 240_000 : 45_000

export default mergeConfig(vitestConfig, {
  test: {
    expect: { poll: { timeout: POLL_PATIENCE_MS } },
    globalSetup: fileURLToPath(import.meta.resolve('@ledger-state/testing/build-before-tests')),
    // Two files at a time, also on two cores: slow tests wait for processes, too.
    ...(isSlowRun && { maxWorkers: 2 }),
    // Loading the program takes long: two workers do it once, and not one for each file.
    ...(!isSlowRun && { isolate: false }),
  },
})
