import { isSlowRun } from '@ledger-state/testing/slow-run'
import { SOURCE_OPTIONS } from '@ledger-state/testing/source-process'
import { vitestConfig } from '@ledger-state/testing/vitest-config'
import { mergeConfig } from 'vitest/config'

// The thread that merges loads sources by itself, without the test runner. Loading the sources takes long, so each
// worker does it once, and not for each file. Two files of slow tests run at a time, also on two cores: they spend half
// of their time waiting for the processes that they kill.
export default mergeConfig(vitestConfig, {
  test: { execArgv: [...SOURCE_OPTIONS], isolate: false, ...(isSlowRun && { maxWorkers: 2 }) },
})
