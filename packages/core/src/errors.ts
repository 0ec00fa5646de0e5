import { LedgerStateError } from './error.js'

/** Texts and bytes that do not parse. */
export type ParseErrorCode = 'invalid_address' | 'invalid_hex' | 'invalid_u64' | 'invalid_bcs'

/** What every reader of state may answer, whatever stores the state. */
export type StateErrorCode = 'no_ledger' | 'version_not_found' | 'version_pruned'

export function noLedger(): LedgerStateError<StateErrorCode> {
  return new LedgerStateError('no_ledger', 'nothing was ingested yet: the store is empty')
}

export function versionNotFound(version: bigint): LedgerStateError<StateErrorCode> {
  return new LedgerStateError('version_not_found', `Ledger version not found by Ledger version(${version})`, {
    version,
  })
}

export function versionPruned(version: bigint, oldestVersion: bigint): LedgerStateError<StateErrorCode> {
  const message = `Ledger version(${version}) has been pruned`
  return new LedgerStateError('version_pruned', message, { version, oldestVersion })
}
