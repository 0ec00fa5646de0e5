import { fileURLToPath } from 'node:url'
import { PATIENCE_MS } from '@ledger-state/testing/eventually'
import { isSlowRun } from '@ledger-state/testing/slow-run'
import { vitestConfig } from '@ledger-state/testing/vitest-config'
import { mergeConfig } from 'vitest/config'

export default mergeConfig(vitestConfig, {
  test: {
    expect: { poll: { timeout: PATIENCE_MS } },
    setupFiles: ['forget-sdk-answers', 'fetch-after-commands'].map((name) =>
      fileURLToPath(new URL(`testing/${name}.ts`, import.meta.url)),
    ),
    globalSetup: fileURLToPath(import.meta.resolve('@ledger-state/testing/build-before-tests')),
    // Two files run at a time, even on two cores, because slow tests also wait for processes.
    ...(isSlowRun && { maxWorkers: 2 }),
    // Loading the program takes long. Without isolation, two workers load it once, and not once for each file.
    ...(!isSlowRun && { isolate: false }),
  },
})
