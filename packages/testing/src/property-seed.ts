// Runs before each test file: `TEST_SEED` repeats the property tests of a run, too. They print their seeds on failure.
import fc from 'fast-check'
import { testSeed } from './random.ts'

if (process.env.TEST_SEED !== undefined) fc.configureGlobal({ ...fc.readConfigureGlobal(), seed: testSeed() })
