import { isLedgerStateError, type LedgerStateError } from '@ledger-state/core'

/** What servers have told of prunes while one read loaded. */
export class Prunes {
  /** The oldest version that is kept, as far as one was told. */
  oldestVersion = 0n

  /** Answers an error that is `version_pruned`, and throws any other. */
  expectPruned(error: unknown): LedgerStateError<'version_pruned'> {
    if (!isLedgerStateError(error, 'version_pruned')) throw error
    const { oldestVersion } = error.fields
    if (oldestVersion > this.oldestVersion) this.oldestVersion = oldestVersion
    return error
  }
}
