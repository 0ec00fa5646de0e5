// The main module of the process that makes the tree of the newest signed checkpoint of a store, which others write and serve.
import { setPriority } from 'node:os'
import { isLedgerStateError } from '@ledger-state/core'
import { loggedProgress } from '../observability/logged-progress.js'
import { createLogger, type LogSettings } from '../observability/logger.js'
import { keepTree, type TreeSettings } from '../stores/keep-tree.js'
import { openReader } from '../stores/open-reader.js'
import type { StorePlace } from '../stores/store-place.js'
import { failProcess, processSettings, stopOrder } from './child.js'

export interface TreeProcessSettings {
  readonly place: StorePlace
  readonly trees: TreeSettings
  readonly hashSalt: string | undefined
  readonly log: LogSettings
}

/** Niceness of the process: requests and the writer come first. */
const NICENESS = 10

async function makeTree(
  { place, trees, hashSalt, log: logSettings }: TreeProcessSettings,
  signal: AbortSignal,
): Promise<void> {
  setPriority(NICENESS)
  const log = createLogger(logSettings, 'trees')
  const line = loggedProgress((text) => log.info(text))
  const engine = await openReader(place)
  try {
    const said = await keepTree(engine, place, { ...trees, hashSalt, line, signal })
    if (said) log.info(said)
  } catch (error) {
    if (signal.aborted) return
    const message = isLedgerStateError(error) ? error.message : error instanceof Error ? error.stack : String(error)
    log.error(`the tree of the newest signed checkpoint was not built: ${message}`)
    process.exitCode = 1
  } finally {
    await engine.close()
  }
}

makeTree(processSettings(), stopOrder()).then(() => process.exit(), failProcess)
