import { LedgerStateError } from '@ledger-state/core'

declare module '@ledger-state/core' {
  interface ErrorFieldsByCode {
    /** `option` of the ingest that would help. */
    base_missing: { readonly option: string }
  }
}

/** Codes for what an ingest itself refuses. Sources and stores have further codes. */
export type IngestErrorCode =
  | 'base_missing'
  | 'chain_id_mismatch'
  | 'invalid_argument'
  | 'ledger_fork'
  | 'slice_mismatch'
  | 'slice_unbounded'
  | 'source_failed'
  | 'spill_failed'
  | 'store_not_empty'
  | 'untrusted'
  | 'version_gap'

type IngestError = LedgerStateError<IngestErrorCode>

// The field `option` names the option of the ingest that would help, if there is one.

/**
 * A source that begins above what an empty store can take.
 * @param what where the source begins, and what the store lacks before it
 */
function baseMissing(what: string): IngestError {
  const message = `${what}: what was written before is not known. Ingest the genesis or a state snapshot first, or assume an empty base`
  return new LedgerStateError('base_missing', message, { option: 'assumeEmptyBase' })
}

export function versionsWithoutBase(place: string, version: bigint): IngestError {
  return baseMissing(`${place}: version ${version}, but the store is empty`)
}

export function stateWithoutBase(place: string, version: bigint): IngestError {
  return baseMissing(`${place}: the state at version ${version} is of a store that began on an assumed empty base`)
}

export function storeNotEmpty(stateVersion: bigint, latestVersion: bigint): IngestError {
  const message = `the state at version ${stateVersion} needs an empty store; this one holds versions up to ${latestVersion}`
  return new LedgerStateError('store_not_empty', message)
}

export function gapAfterStore(place: string, found: bigint, expected: bigint): IngestError {
  const message = `${place}: version ${found} is found, but the next version of the store is ${expected}`
  return new LedgerStateError('version_gap', message, { expected, found })
}

export function gapBeforeFirst(first: bigint, expected: bigint): IngestError {
  const message = `version ${first} is asked for, but the next version of the store is ${expected}`
  return new LedgerStateError('version_gap', message, { expected, found: first })
}

export function gapInSource(place: string, found: bigint, previous: bigint): IngestError {
  const message = `${place}: version ${found} follows version ${previous}`
  return new LedgerStateError('version_gap', message, { expected: previous + 1n, found })
}

export function otherVersionHeld(place: string, version: bigint): IngestError {
  const message = `${place}: version ${version} differs from the one that the store holds: a fork, or another ledger`
  return new LedgerStateError('ledger_fork', message, { version })
}

export function otherWrites(place: string, version: bigint): IngestError {
  const message = `${place}: what this store was given up to version ${version} is not what its source was given. Remove this store, and begin with a snapshot of the source`
  return new LedgerStateError('ledger_fork', message, { version })
}

/**
 * A chain id that differs.
 * @param what names the source or the caller, with its chain
 */
function chainMismatch(what: string, expected: string): IngestError {
  return new LedgerStateError('chain_id_mismatch', `${what}, ${expected}`)
}

export function sourceOfOtherChain(place: string, found: bigint, held: bigint): IngestError {
  return chainMismatch(`${place}: the source is of chain ${found}`, `the store holds chain ${held}`)
}

export function sourceNotAsAsked(place: string, found: bigint, asked: bigint): IngestError {
  return chainMismatch(`${place}: the source is of chain ${found}`, `chain ${asked} is asked for`)
}

export function storeNotAsAsked(asked: bigint, held: bigint): IngestError {
  return chainMismatch(`chain ${asked} is asked for`, `the store holds chain ${held}`)
}

/**
 * Error for a source that contradicts itself about its chain, while the store is empty: its first answer names one
 * chain, and later ones another.
 */
export function chainsContradict(mismatch: LedgerStateError): IngestError {
  return new LedgerStateError('source_failed', mismatch.message, {}, { cause: mismatch })
}

export function chainIdMissing(place: string): IngestError {
  const message = `${place}: the source does not contain the id of its chain; name it`
  return new LedgerStateError('invalid_argument', message, { option: 'chainId' })
}

/** Gives an error of the store the place in the source that it is about. */
export function atSourcePosition(error: LedgerStateError, place: string): LedgerStateError {
  return new LedgerStateError(error.code, `${place}: ${error.message}`, error.fields, { cause: error })
}

// Signatures

export function nothingSigned(oldestVersion: bigint): IngestError {
  const message = `no version of the store is signed from version ${oldestVersion} on, so nothing would be left of it: remove the store, and ingest again from a source with signatures`
  return new LedgerStateError('untrusted', message, {})
}

// Slices

/**
 * A store that keeps another slice.
 * @param asked lines of the slice that is asked for
 */
export function otherSlice(asked: readonly string[]): IngestError {
  const message = `the store keeps another slice than is asked for, and what it left out cannot be added to it: a separate store is needed for ${listed(asked)}`
  return new LedgerStateError('slice_mismatch', message)
}

export function storeKeepsAll(): IngestError {
  const message = 'the store keeps all of its ledger, and a slice is asked for: a slice needs its own store'
  return new LedgerStateError('slice_mismatch', message)
}

/** Error for a store that has only the intent to keep a slice, or a part of the slice's state. */
export function sliceCutShort(): IngestError {
  const message =
    'an ingest that keeps a slice was cut short in this store, before the store had a version: what the slice was asked for has to be given again to resume it, and all of the ledger needs another store'
  return new LedgerStateError('slice_mismatch', message)
}

export function sourceKeepsSlice(place: string): IngestError {
  const message = `${place}: the source keeps a slice itself; a store that follows it has the same slice, and no other`
  return new LedgerStateError('slice_mismatch', message)
}

export function sliceNeedsReopening(place: string): IngestError {
  const message = `${place}: a slice of a state is found by reading the state several times, so the source has to be opened again`
  return new LedgerStateError('invalid_argument', message, { option: 'only' })
}

/**
 * A slice that grows with each pass over the state.
 * @param joining lines of the members that joined in the last pass
 */
export function sliceStillGrows(place: string, passes: number, joining: readonly string[]): IngestError {
  const message = `${place}: after ${passes} passes over the state, others still join the slice: ${listed(joining)}. Ask for them by name, or for less`
  return new LedgerStateError('slice_unbounded', message)
}

export function stateChangedBetweenPasses(place: string): IngestError {
  const message = `${place}: the state is not the same as in the passes before`
  return new LedgerStateError('source_failed', message)
}

function listed(lines: readonly string[]): string {
  const shown = lines.slice(0, 5).join(', ')
  return lines.length > 5 ? `${shown} and ${lines.length - 5} more` : shown
}

export function cannotSpoolModules(folder: string, cause: unknown): IngestError {
  const message = `cannot keep a copy of the modules of the state in ${folder}: ${cause instanceof Error ? cause.message : String(cause)}`
  return new LedgerStateError('spill_failed', message, {}, { cause })
}

export function diskOfModulesFull(folder: string, free: number, spare: number): IngestError {
  const inMebibytes = (bytes: number): string => `${Math.floor(bytes / (1 << 20))} MiB`
  const message = `the disk of ${folder} has ${inMebibytes(free)} free, and a copy of the modules of the state leaves ${inMebibytes(spare)} free: nothing was stored`
  return new LedgerStateError('spill_failed', message)
}
