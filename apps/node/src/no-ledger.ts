import { LedgerStateError } from '@ledger-state/core'

export function noLedgerIn(dataDir: string): LedgerStateError {
  return new LedgerStateError('no_ledger', `the store in ${dataDir} is empty: ingest something first`)
}
