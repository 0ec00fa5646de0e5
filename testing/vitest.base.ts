import { defineConfig } from 'vitest/config'

/** Every package's tests stand beside its sources; `dist` holds none. */
export const vitestConfig = defineConfig({
  test: { include: ['src/**/*.test.ts'], testTimeout: 60_000, hookTimeout: 60_000 },
})
