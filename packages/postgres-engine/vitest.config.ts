import { isSlowRun } from '@ledger-state/testing/slow-run'
import { vitestConfig } from '@ledger-state/testing/vitest-config'
import { mergeConfig } from 'vitest/config'

// Two files at a time, also on two cores: the fast tests wait for servers as long as they compute.
export default mergeConfig(vitestConfig, isSlowRun ? {} : { test: { maxWorkers: 2 } })
