import { LedgerStateError } from '@ledger-state/core'

/** Codes of records that cannot be read, in addition to `invalid_bcs` of `@ledger-state/core`. */
export type RecordErrorCode = 'untrusted'

export function badEpochChange(epoch: bigint, why: string): LedgerStateError<RecordErrorCode> {
  return new LedgerStateError('untrusted', `the stored change of epoch ${epoch} cannot be read: ${why}`, { epoch })
}
