import { sampleCases } from '@ledger-state/testing/sample-cases'
import { isSlowRun } from '@ledger-state/testing/slow-run'
import { SOURCE_OPTIONS } from '@ledger-state/testing/source-process'
import { testScale } from '@ledger-state/testing/test-scale'
import { vitestConfig } from '@ledger-state/testing/vitest-config'
import { defineConfig, mergeConfig } from 'vitest/config'

// The thread that merges loads sources by itself, without the test runner. Loading the sources takes long, so each
// worker does it once, and not for each file. Two files of slow tests run at a time, even on two cores: they spend half
// of their time waiting for the processes that they kill.
const config = mergeConfig(vitestConfig, {
  test: { execArgv: [...SOURCE_OPTIONS], isolate: false, ...(isSlowRun && { maxWorkers: 2 }) },
})

/** Tests that also run on segment files without a map, and on compressed ones. */
const ON_OTHER_FILES = ['src/contract', 'src/crash', 'src/one-state', 'src/power-loss', 'src/read/model-histories']

/** Has these tests run with some variables of the environment. */
function projectWith(name: string, tests: readonly string[], variables: Readonly<Record<string, string>>) {
  const { test } = config
  const include = tests.flatMap((path) => [`${path}.test.ts`, ...(isSlowRun ? [`${path}.slow.test.ts`] : [])])
  return { ...config, test: { ...test, name, include, env: { ...test.env, ...variables } } }
}

const OTHER_FILES = [
  projectWith('without-map', ON_OTHER_FILES, { LEDGER_STATE_UNMAPPED: '1' }),
  projectWith('compressed', [...ON_OTHER_FILES, 'src/read/damaged-segments'], { LEDGER_STATE_COMPRESSED: '1' }),
  ...(isSlowRun ? [projectWith('split', ['src/read/model-histories'], { LEDGER_STATE_SEGMENT_BYTES: '10000' })] : []),
]

export default defineConfig({
  test: {
    passWithNoTests: config.test.passWithNoTests,
    projects: [
      { ...config, test: { ...config.test, name: 'mapped' } },
      // They double the time of a slow run, so a sample leaves them out. A sample of the fast tests has one of them.
      ...(testScale() >= 1 ? OTHER_FILES : isSlowRun ? [] : sampleCases(OTHER_FILES, 1)),
    ],
  },
})
