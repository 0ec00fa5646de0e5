import { portableVitestConfig } from '@ledger-state/testing/vitest-config'
import { defineConfig } from 'vitest/config'

/**
 * Each file has a separate worker: steps are counted in functions that no other file has run before
 * (`linear-work.test.ts`).
 */
export default defineConfig(async (environment) => {
  const config = await portableVitestConfig(environment)
  const projects = config.test?.projects?.map((project) =>
    typeof project === 'object' && 'test' in project
      ? { ...project, test: { ...project.test, isolate: true } }
      : project,
  )
  return { ...config, test: { ...config.test, projects } }
})
