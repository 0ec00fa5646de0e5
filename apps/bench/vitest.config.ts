import { fileURLToPath } from 'node:url'
import { vitestConfig } from '@ledger-state/testing/vitest-config'
import { mergeConfig } from 'vitest/config'

export default mergeConfig(vitestConfig, {
  test: { globalSetup: fileURLToPath(import.meta.resolve('@ledger-state/testing/build-before-tests')) },
})
