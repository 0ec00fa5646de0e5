// Opens stores in a process of its own, as a reader, as the writer and for a check, and prints what came of it: one line of
// JSON for each store. Damaged stores may end the process by a signal, which must not end the tests.
import { isLedgerStateError } from '@ledger-state/core'
import { openStateEngine, openStateEngineReader } from '../src/index.js'

export interface Opened {
  readonly path: string
  /** The code and message of what was thrown. */
  readonly error?: string
  /** What `check` found. */
  readonly problems?: readonly string[]
}

for (const path of process.argv.slice(2)) process.stdout.write(`${JSON.stringify(await open(path))}\n`)

async function open(path: string): Promise<Opened> {
  const problems: string[] = []
  try {
    for (const openEngine of [openStateEngineReader, openStateEngine]) {
      const engine = openEngine({ path })
      try {
        problems.push(...(await engine.check()).problems)
      } finally {
        await engine.close()
      }
    }
    return { path, problems }
  } catch (error) {
    return { path, error: isLedgerStateError(error) ? `${error.code}: ${error.message}` : `raw ${String(error)}` }
  }
}
