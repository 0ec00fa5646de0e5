import { vitestConfig } from '@ledger-state/testing/vitest-config'
import { mergeConfig } from 'vitest/config'

// Loading the sources takes longer than most tests: two workers load them once each, and not once for each file.
export default mergeConfig(vitestConfig, { test: { isolate: false } })
