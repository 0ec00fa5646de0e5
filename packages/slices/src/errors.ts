import { ADDRESS_LENGTH, addressToShortHex, bytesToHex, clip, LedgerStateError } from '@ledger-state/core'
import type { StateErrorCode } from '@ledger-state/engine'

/** Codes of slices that cannot be parsed. */
export type SliceErrorCode = 'invalid_slice' | 'invalid_type_tag'

/** Codes of what keeping a slice refuses. */
export type SliceKeepingErrorCode =
  | 'invalid_argument'
  | 'slice_mismatch'
  | 'slice_unbounded'
  | 'source_failed'
  | 'spill_failed'

type KeepingError = LedgerStateError<SliceKeepingErrorCode>

type SliceError = LedgerStateError<SliceErrorCode>

const SLICE = 'this store keeps a slice of its ledger'

/**
 * Error for a read of a key that the slice does not keep.
 * @param oldestVersion oldest version of the store
 */
export function notInSlice(key: Uint8Array, version: bigint, oldestVersion: bigint): LedgerStateError<StateErrorCode> {
  const message = `${SLICE}, which has not ${nameOfKey(key)}; ${lineThatKeeps(key)} keeps it`
  return new LedgerStateError('version_pruned', message, { version, oldestVersion })
}

/**
 * Error for a read that needs earlier writes than the slice keeps.
 * @param since first version whose writes the slice keeps
 * @param asked state key, or a prefix, that a slice must ask for so that it keeps everything
 */
export function keptSince(
  key: Uint8Array,
  since: bigint,
  version: bigint,
  oldestVersion: bigint,
  asked = key,
): LedgerStateError<StateErrorCode> {
  const message = `${SLICE}, which has ${nameOfKey(key)} from version ${since} on, as far as it was written since: what else it has at version ${version} is not known; ${lineThatKeeps(asked)} keeps all of it`
  return new LedgerStateError('version_pruned', message, { version, oldestVersion })
}

/**
 * Error for a listing of keys that the slice may lack.
 * @param prefix prefix of the keys that were to be listed
 */
export function notListedInSlice(
  prefix: Uint8Array,
  version: bigint,
  oldestVersion: bigint,
): LedgerStateError<StateErrorCode> {
  if (prefix.length > ADDRESS_LENGTH) return notInSlice(prefix, version, oldestVersion)
  const message = `${SLICE}: what lies outside of it is not known, so nothing is searched through all accounts`
  return new LedgerStateError('version_pruned', message, { version, oldestVersion })
}

/** Describes what a state key, or a prefix of one, names. */
function nameOfKey(key: Uint8Array): string {
  const id = key.subarray(1, 1 + ADDRESS_LENGTH)
  if (key[0] === 0) return `the account ${addressToShortHex(id)}`
  return key[0] === 1 ? `the table ${addressToShortHex(id)}` : `the key ${clip(bytesToHex(key))}`
}

function lineThatKeeps(key: Uint8Array): string {
  const id = key.subarray(1, 1 + ADDRESS_LENGTH)
  if (key[0] === 0) return `--only-account ${addressToShortHex(id)}`
  return key[0] === 1 ? `--only-table ${addressToShortHex(id)}` : 'no slice'
}

export function invalidTypePattern(text: string): SliceError {
  const message = `${JSON.stringify(clip(text))} does not name types: expected 0x…::module::Name, 0x…::module::* or 0x…::*`
  return new LedgerStateError('invalid_type_tag', message)
}

export function sliceOfNothing(): SliceError {
  return new LedgerStateError('invalid_slice', 'a slice that keeps nothing: name an account, a table or a type')
}

export function invalidSliceLine(line: number, cause: unknown): SliceError {
  const why = cause instanceof Error ? cause.message : String(cause)
  const message = `line ${line}: ${why}; expected an address, "table" and a handle, or a type`
  return new LedgerStateError('invalid_slice', message, {}, { cause })
}

/**
 * A store that keeps another slice.
 * @param asked lines of the slice that is asked for
 */
export function otherSlice(asked: readonly string[]): KeepingError {
  const message = `the store keeps another slice than is asked for, and what it left out cannot be added to it: a separate store is needed for ${listed(asked)}`
  return new LedgerStateError('slice_mismatch', message)
}

export function storeKeepsAll(): KeepingError {
  const message = 'the store keeps all of its ledger, and a slice is asked for: a slice needs its own store'
  return new LedgerStateError('slice_mismatch', message)
}

/** Error for a store that has only the intent to keep a slice, or a part of the slice's state. */
export function sliceCutShort(): KeepingError {
  const message =
    'an ingest that keeps a slice was cut short in this store, before the store had a version: what the slice was asked for has to be given again to resume it, and all of the ledger needs another store'
  return new LedgerStateError('slice_mismatch', message)
}

export function sourceKeepsSlice(place: string): KeepingError {
  const message = `${place}: the source keeps a slice itself; a store that follows it has the same slice, and no other`
  return new LedgerStateError('slice_mismatch', message)
}

export function sliceNeedsReopening(place: string): KeepingError {
  const message = `${place}: a slice of a state is found by reading the state several times, so the source has to be opened again`
  return new LedgerStateError('invalid_argument', message, { option: 'only' })
}

/**
 * A slice that grows with each pass over the state.
 * @param joining lines of the members that joined in the last pass
 */
export function sliceStillGrows(place: string, passes: number, joining: readonly string[]): KeepingError {
  const message = `${place}: after ${passes} passes over the state, others still join the slice: ${listed(joining)}. Ask for them by name, or for less`
  return new LedgerStateError('slice_unbounded', message)
}

export function stateChangedBetweenPasses(place: string): KeepingError {
  const message = `${place}: the state is not the same as in the passes before`
  return new LedgerStateError('source_failed', message)
}

function listed(lines: readonly string[]): string {
  const shown = lines.slice(0, 5).join(', ')
  return lines.length > 5 ? `${shown} and ${lines.length - 5} more` : shown
}

export function cannotSpoolModules(folder: string, cause: unknown): KeepingError {
  const message = `cannot keep a copy of the modules of the state in ${folder}: ${cause instanceof Error ? cause.message : String(cause)}`
  return new LedgerStateError('spill_failed', message, {}, { cause })
}

export function diskOfModulesFull(folder: string, free: number, spare: number): KeepingError {
  const inMebibytes = (bytes: number): string => `${Math.floor(bytes / (1 << 20))} MiB`
  const message = `the disk of ${folder} has ${inMebibytes(free)} free, and a copy of the modules of the state leaves ${inMebibytes(spare)} free: nothing was stored`
  return new LedgerStateError('spill_failed', message)
}
