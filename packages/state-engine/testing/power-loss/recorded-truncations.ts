// Commits, truncates and prunes, and opens the store again now and then. Prints each step that was acknowledged.
import type { WriterOptions } from '../../src/index.js'
import { neverFail } from '../../src/write/failure-points.ts'
import { runSteps } from '../truncated-ledger.ts'

const [path, count, options] = process.argv.slice(2) as [string, string, string]

// Time runs fast, so that what is done in slices takes several.
let now = 0
performance.now = () => {
  now += 5
  return now
}
await runSteps({ path, ...(JSON.parse(options) as Omit<WriterOptions, 'path'>) }, Number(count), neverFail, 13)
