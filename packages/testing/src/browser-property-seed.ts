// Runs before each test file in a browser, which has no environment variables: `TEST_SEED` repeats its property tests, too.
import fc from 'fast-check'
import { inject } from 'vitest'

declare module 'vitest' {
  interface ProvidedContext {
    propertySeed: number | undefined
  }
}

const seed = inject('propertySeed')
if (seed !== undefined) fc.configureGlobal({ ...fc.readConfigureGlobal(), seed })
