import { fileURLToPath } from 'node:url'
import { defineConfig } from 'vitest/config'

/** Under this condition the packages of the workspace export their sources: tests never see a stale build. */
const SOURCE_CONDITION = '@ledger-state/source'
const CONDITIONS = [SOURCE_CONDITION, 'node', 'default']

const FAST_TESTS = 'src/**/*.test.ts'
/** Rounds of crashes, long histories, whole programs. `SLOW_TESTS=1` runs these and no others. */
const SLOW_TESTS = 'src/**/*.slow.test.ts'

const isSlowRun = process.env.SLOW_TESTS === '1'

/** The configuration of every package. Tests stand beside the sources. */
export const vitestConfig = defineConfig({
  resolve: { conditions: CONDITIONS },
  ssr: { resolve: { conditions: CONDITIONS } },
  test: {
    include: [isSlowRun ? SLOW_TESTS : FAST_TESTS],
    setupFiles: [fileURLToPath(new URL('property-seed.ts', import.meta.url))],
    exclude: isSlowRun ? [] : [SLOW_TESTS],
    passWithNoTests: isSlowRun,
    testTimeout: 60_000,
    hookTimeout: 60_000,
  },
})
