import { vitestConfig } from '@ledger-state/testing/vitest-config'
import { mergeConfig } from 'vitest/config'

// Loading the sources takes as long as the tests. Without isolation, two workers load them once, and not once for each
// file.
export default mergeConfig(vitestConfig, { test: { isolate: false } })
