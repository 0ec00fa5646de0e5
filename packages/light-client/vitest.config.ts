import { portableVitestConfig } from '@ledger-state/testing/vitest-config'
import { defineConfig, mergeConfig } from 'vitest/config'

export default defineConfig(async (run) =>
  mergeConfig(await portableVitestConfig(run), { test: { globalSetup: 'testing/provide-answers.ts' } }),
)
