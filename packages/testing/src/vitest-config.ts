import { defineConfig } from 'vitest/config'

/** Under this condition the packages of the workspace export their sources: tests never see a stale build. */
const SOURCE_CONDITION = '@ledger-state/source'

/** The tests of every package stand beside its sources. */
export const vitestConfig = defineConfig({
  resolve: { conditions: [SOURCE_CONDITION, 'node', 'module', 'import', 'default'] },
  ssr: { resolve: { conditions: [SOURCE_CONDITION, 'node', 'module', 'import', 'default'] } },
  test: { include: ['src/**/*.test.ts'], testTimeout: 60_000, hookTimeout: 60_000 },
})
