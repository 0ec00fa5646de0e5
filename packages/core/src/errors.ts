import { LedgerStateError } from './error.js'
import { quote } from './quote.js'

/** Texts and bytes that do not parse. */
export type ParseErrorCode = 'invalid_address' | 'invalid_hex' | 'invalid_u64' | 'invalid_bcs'

type ParseError = LedgerStateError<ParseErrorCode>

export function invalidAddress(text: string, why: string): ParseError {
  return new LedgerStateError('invalid_address', `Invalid account address ${quote(text)}: ${why}`)
}

export function invalidHex(text: string, why: string): ParseError {
  return new LedgerStateError('invalid_hex', `${why} in hex text ${quote(text)}`)
}

export function invalidU64(text: string, why: string): ParseError {
  return new LedgerStateError('invalid_u64', `Parsing u64 string ${quote(text)} failed: ${why}`)
}

export function invalidBcs(why: string, offset: number): ParseError {
  return new LedgerStateError('invalid_bcs', `${why} at byte ${offset}`, { offset })
}

/** What every reader of state may answer, whatever stores the state. */
export type StateErrorCode = 'no_ledger' | 'version_not_found' | 'version_pruned' | 'version_truncated'

type StateError = LedgerStateError<StateErrorCode>

/** The error of a read while nothing was ingested. */
export function noLedger(): StateError {
  return new LedgerStateError('no_ledger', 'nothing was ingested yet: the store is empty')
}

/** The error of a read above the latest version; `version` is in its fields. */
export function versionNotFound(version: bigint): StateError {
  return new LedgerStateError('version_not_found', `Ledger version not found by Ledger version(${version})`, {
    version,
  })
}

/** The error of a read below the window; `version` and `oldestVersion` are in its fields. */
export function versionPruned(version: bigint, oldestVersion: bigint): StateError {
  const message = `Ledger version(${version}) has been pruned`
  return new LedgerStateError('version_pruned', message, { version, oldestVersion })
}

/** The error of a read of a version that was cut off since it was asked for; `version` is in its fields. */
export function versionTruncated(version: bigint): StateError {
  return new LedgerStateError('version_truncated', `Ledger version(${version}) was cut off by a truncation`, {
    version,
  })
}
