import { declareErrors, LedgerStateError } from '@ledger-state/core'
import type { TransactionIndex } from '@ledger-state/records'
import type { SliceKeepingErrorCode } from '@ledger-state/slices'

declare module '@ledger-state/core' {
  interface ErrorFieldsByCode {
    /** `option` of the ingest that would help. */
    base_missing: { readonly option: string }
  }
}

/** Error codes of an ingest. Sources and stores have further codes. */
export type IngestErrorCode =
  | SliceKeepingErrorCode
  | 'audit_damaged'
  | 'base_missing'
  | 'chain_id_mismatch'
  | 'invalid_argument'
  | 'ledger_fork'
  | 'source_failed'
  | 'spill_failed'
  | 'store_not_empty'
  | 'untrusted'
  | 'version_gap'

type IngestError = LedgerStateError<IngestErrorCode>

// The field `option` names the option of the ingest that would help, if there is one.

/**
 * A source that begins too late for an empty store.
 * @param what where the source begins, and the versions that the store lacks before it
 */
function baseMissing(what: string): IngestError {
  const message = `${what}. Earlier writes are unknown: ingest the genesis or a state snapshot first, or assume an empty base`
  return new LedgerStateError('base_missing', message, { option: 'assumeEmptyBase' })
}

export function versionsWithoutBase(place: string, version: bigint): IngestError {
  return baseMissing(`${place}: the source begins at version ${version}, but the store is empty`)
}

export function stateWithoutBase(place: string, version: bigint): IngestError {
  return baseMissing(`${place}: the state at version ${version} comes from a store that began on an assumed empty base`)
}

export function storeNotEmpty(stateVersion: bigint, latestVersion: bigint): IngestError {
  const message = `the state at version ${stateVersion} needs an empty store; this one holds versions up to ${latestVersion}`
  return new LedgerStateError('store_not_empty', message)
}

export function otherSourceBegun(description: string): IngestError {
  const advice = 'resume it from the source with which it began, or remove the store'
  return new LedgerStateError('invalid_argument', `${description} does not continue the interrupted import: ${advice}`)
}

export const rangeErrors = declareErrors('invalid_argument', {
  noProofs: (place: string) =>
    `${place}: the source does not prove its versions, so a range of them cannot be joined with others`,
  beginsWithState: (place: string) =>
    `${place}: the source begins with a state; a range is filled from the transactions of a backup`,
  otherStore: (from: bigint, to: bigint) =>
    `the store is not the range ${from}-${to}: fill the range into an empty folder`,
  storeOfRange: (from: bigint, to: bigint) =>
    `the store has the range ${from}-${to} of a ledger: continue it with this range, or join it with others`,
  otherTransactions: () =>
    'the store keeps different parts of transactions than this ingest: give the options of its first ingest',
  hasAllIndexes: () => 'a range has all indexes of transactions: they cannot be chosen for it',
  nothingInRange: (from: bigint, to: bigint) => `no block begins in the range ${from}-${to}`,
})

/** @param indexes those of the store */
export function otherIndexes(indexes: readonly TransactionIndex[]): IngestError {
  const message = `the store has these indexes of transactions: ${indexes.join(', ') || 'none'}; it keeps them, so ingest into another store to have others`
  return new LedgerStateError('invalid_argument', message)
}

export const versionGap = declareErrors('version_gap', {
  gapAfterStore: (place: string, found: bigint, expected: bigint) => [
    `${place}: expected version ${expected}, the next one of the store; found version ${found}`,
    { expected, found },
  ],
  gapBeforeFirst: (first: bigint, expected: bigint) => [
    `cannot begin at version ${first}: the next version of the store is ${expected}`,
    { expected, found: first },
  ],
  gapInSource: (place: string, found: bigint, previous: bigint) => [
    `${place}: expected version ${previous + 1n} after version ${previous}; found version ${found}`,
    { expected: previous + 1n, found },
  ],
})

export const ledgerFork = declareErrors('ledger_fork', {
  otherVersionHeld: (place: string, version: bigint) => [
    `${place}: version ${version} differs from version ${version} of the store: the source is on a fork or has a different ledger`,
    { version },
  ],
  otherWrites: (place: string, version: bigint) => [
    `${place}: the writes of this store up to version ${version} differ from the writes of its source. Remove this store and begin with a snapshot of the source`,
    { version },
  ],
})

/**
 * A chain id that differs.
 * @param what names the source or the caller, with its chain
 */
function chainMismatch(what: string, expected: string): IngestError {
  return new LedgerStateError('chain_id_mismatch', `${what}, but ${expected}`)
}

export function sourceOfOtherChain(place: string, found: bigint, held: bigint): IngestError {
  return chainMismatch(`${place}: the source has chain ${found}`, `the store holds chain ${held}`)
}

export function sourceNotAsAsked(place: string, found: bigint, asked: bigint): IngestError {
  return chainMismatch(`${place}: the source has chain ${found}`, `chain ${asked} was requested`)
}

export function storeNotAsAsked(asked: bigint, held: bigint): IngestError {
  return chainMismatch(`chain ${asked} was requested`, `the store holds chain ${held}`)
}

/**
 * Error for a source that contradicts itself about its chain, while the store is empty: its first answer names one
 * chain, and later ones another.
 */
export function chainsContradict(mismatch: LedgerStateError): IngestError {
  return new LedgerStateError('source_failed', mismatch.message, {}, { cause: mismatch })
}

export function chainIdMissing(place: string): IngestError {
  const message = `${place}: the source does not contain its chain id; give it`
  return new LedgerStateError('invalid_argument', message, { option: 'chainId' })
}

/** Gives an error of the store the place in the source that it is about. */
export function atSourcePosition(error: LedgerStateError, place: string): LedgerStateError {
  return new LedgerStateError(error.code, `${place}: ${error.message}`, error.fields, { cause: error })
}

// Signatures

export function nothingSigned(oldestVersion: bigint): IngestError {
  const message = `the store has no signed version since its oldest version, ${oldestVersion}, so nothing would be left of it: remove the store and ingest again from a source with signatures`
  return new LedgerStateError('untrusted', message, {})
}

/** An audit that cannot be written next to the copy of its store. */
export function auditNotCopied(folder: string, cause: unknown): IngestError {
  const message = `cannot copy the audit to ${folder}: ${(cause as Error).message}; the copy of the store is complete without it`
  return new LedgerStateError('spill_failed', message, {}, { cause })
}

/** A file of an audit that the system does not read. */
export function auditUnreadable(path: string, cause: unknown): IngestError {
  return new LedgerStateError('spill_failed', `${path} cannot be read now: ${(cause as Error).message}`, {}, { cause })
}

/** Files of an audit that are not as it wrote them. They are removed. */
export function auditDamaged(folder: string): IngestError {
  const message = `the files of the audit in ${folder} were damaged, and are removed: run the audit again, which begins at the oldest version`
  return new LedgerStateError('audit_damaged', message)
}
