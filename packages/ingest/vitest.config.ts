import { vitestConfig } from '@ledger-state/testing/vitest-config'
import { mergeConfig } from 'vitest/config'

// Without isolation, two workers load the sources once and not once for each file, in a tenth of the time.
export default mergeConfig(vitestConfig, { test: { isolate: false } })
