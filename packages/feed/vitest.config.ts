import { SOURCE_OPTIONS } from '@ledger-state/testing/source-process'
import { vitestConfig } from '@ledger-state/testing/vitest-config'
import { mergeConfig } from 'vitest/config'

// The thread that proves loads sources by itself, without the test runner; that takes long enough to start the
// processes of the tests as seldom as possible.
export default mergeConfig(vitestConfig, { test: { execArgv: [...SOURCE_OPTIONS], isolate: false } })
