import { join } from 'node:path'
import { isLedgerStateError } from '@ledger-state/core'
import { isPresent } from '@ledger-state/core/files'
import type { LedgerSummary } from '@ledger-state/engine'
import { openStateEngine, openStateEngineReader, STORE_FILE } from '@ledger-state/state-engine'
import { isEmptyStore } from './is-empty-store.js'

/** Ledger of the store; undefined if there is no store, or an empty one. */
export async function heldLedger(dataDir: string): Promise<LedgerSummary | undefined> {
  try {
    const engine = openStateEngineReader({ path: dataDir })
    const { ledger } = engine
    await engine.close()
    return ledger
  } catch (error) {
    if (isLedgerStateError(error, 'store_missing')) return undefined
    throw error
  }
}

/** Whether a folder without a ledger has a part of a state, whose import was cut short. */
export async function hasPartOfState(dataDir: string): Promise<boolean> {
  if (!isPresent(join(dataDir, STORE_FILE))) return false
  const engine = openStateEngine({ path: dataDir, create: false })
  try {
    return !(await isEmptyStore(engine))
  } finally {
    await engine.close()
  }
}
