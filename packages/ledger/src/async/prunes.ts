import { isLedgerStateError, type LedgerStateError } from '@ledger-state/core'

/** Prunes that servers reported during one read. */
export class Prunes {
  /** The oldest version that is kept, once a server has reported a prune. */
  oldestVersion = 0n

  /** Notes and returns an error that is `version_pruned`, and throws any other. */
  expectPruned(error: unknown): LedgerStateError<'version_pruned'> {
    if (!isLedgerStateError(error, 'version_pruned')) throw error
    const { oldestVersion } = error.fields
    if (oldestVersion > this.oldestVersion) this.oldestVersion = oldestVersion
    return error
  }
}
