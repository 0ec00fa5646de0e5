import { hasImportedPart } from '@ledger-state/records'
import type { StateEngine } from '@ledger-state/state-engine'

/** Whether there is nothing to resume from: neither a version nor a part of an imported state. */
export async function isEmptyStore(engine: StateEngine): Promise<boolean> {
  return !engine.ledger && !hasImportedPart((await engine.unfinishedImport())?.mark)
}
