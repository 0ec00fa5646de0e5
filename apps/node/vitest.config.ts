import { fileURLToPath } from 'node:url'
import { PATIENCE_MS } from '@ledger-state/testing/eventually'
import { isSlowRun } from '@ledger-state/testing/slow-run'
import { vitestConfig } from '@ledger-state/testing/vitest-config'
import { mergeConfig } from 'vitest/config'

export default mergeConfig(vitestConfig, {
  test: {
    expect: { poll: { timeout: PATIENCE_MS } },
    globalSetup: fileURLToPath(import.meta.resolve('@ledger-state/testing/build-before-tests')),
    // Two files at a time, also on two cores: slow tests wait for processes, too.
    ...(isSlowRun && { maxWorkers: 2 }),
    // Loading the program takes long: two workers do it once, and not one for each file.
    ...(!isSlowRun && { isolate: false }),
  },
})
