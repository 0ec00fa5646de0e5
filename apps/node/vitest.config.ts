import { fileURLToPath } from 'node:url'
import { vitestConfig } from '@ledger-state/testing/vitest-config'
import { mergeConfig } from 'vitest/config'

/** Two files at a time, also on two cores: slow tests wait for processes more than they compute. */
const SLOW_WORKERS = 2

export default mergeConfig(vitestConfig, {
  test: {
    globalSetup: fileURLToPath(import.meta.resolve('@ledger-state/testing/build-before-tests')),
    ...(process.env.SLOW_TESTS === '1' && { maxWorkers: SLOW_WORKERS }),
  },
})
