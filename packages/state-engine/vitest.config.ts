import { isSlowRun } from '@ledger-state/testing/slow-run'
import { SOURCE_OPTIONS } from '@ledger-state/testing/source-process'
import { vitestConfig } from '@ledger-state/testing/vitest-config'
import { mergeConfig } from 'vitest/config'

// The thread that merges loads sources by itself, without the test runner. Loading the sources takes long: workers do it once, and not once for each file. Two files of slow tests at a time, also on
// two cores: they wait for the processes that they kill as long as they compute.
export default mergeConfig(vitestConfig, {
  test: { execArgv: [...SOURCE_OPTIONS], isolate: false, ...(isSlowRun && { maxWorkers: 2 }) },
})
