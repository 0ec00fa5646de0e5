import { vitestConfig } from '@ledger-state/testing/vitest-config'
import { mergeConfig } from 'vitest/config'

// Loading the sources takes long beside the tests: two workers do it once, and not once for each file.
export default mergeConfig(vitestConfig, { test: { isolate: false } })
