import { SOURCE_OPTIONS } from '@ledger-state/testing/source-process'
import { vitestConfig } from '@ledger-state/testing/vitest-config'
import { mergeConfig } from 'vitest/config'

// The thread that proves loads the sources itself, without the test runner. That takes so long that the tests start as
// few processes as possible.
export default mergeConfig(vitestConfig, { test: { execArgv: [...SOURCE_OPTIONS], isolate: false } })
