import {
  ADDRESS_LENGTH,
  addressToShortHex,
  bytesToHex,
  clip,
  declareErrors,
  LedgerStateError,
} from '@ledger-state/core'
import type { StateErrorCode } from '@ledger-state/engine'

/** Codes of slices that cannot be parsed. */
export type SliceErrorCode = 'invalid_slice' | 'invalid_type_tag'

/** Error codes of slices. */
export type SliceKeepingErrorCode =
  | 'invalid_argument'
  | 'slice_mismatch'
  | 'slice_unbounded'
  | 'source_failed'
  | 'spill_failed'

type KeepingError = LedgerStateError<SliceKeepingErrorCode>

type SliceError = LedgerStateError<SliceErrorCode>

const SLICE = 'this store keeps only part of the ledger'

export const versionPruned = declareErrors('version_pruned', {
  /**
   * Error for a read of a key that the slice does not keep.
   * @param oldestVersion oldest version of the store
   */
  notInSlice: (key: Uint8Array, version: bigint, oldestVersion: bigint) => [
    `${SLICE} and does not have ${nameOfKey(key)}; ${wayToKeep(key, 'it')}`,
    { version, oldestVersion },
  ],
  /**
   * Error for a read that needs earlier writes than the slice keeps.
   * @param since first version with kept writes
   * @param asked state key or prefix that a slice must include to keep everything
   */
  keptSince: (key: Uint8Array, since: bigint, version: bigint, oldestVersion: bigint, asked = key) => [
    `this store has only the values of ${nameOfKey(key)} that were written since version ${since}; other values at version ${version} are unknown; ${wayToKeep(asked, 'all of them')}`,
    { version, oldestVersion },
  ],
  /**
   * Error for a read that needs all resources of a type.
   * @param type text of the type without type arguments
   */
  typeNotInSlice: (type: string, version: bigint, oldestVersion: bigint) => [
    `${SLICE} and does not have every ${type}; ingest with --only-type ${type} to keep all of them`,
    { version, oldestVersion },
  ],
})

/**
 * Error for a listing of keys that the slice may lack.
 * @param prefix prefix of the keys that were to be listed
 */
export function notListedInSlice(
  prefix: Uint8Array,
  version: bigint,
  oldestVersion: bigint,
): LedgerStateError<StateErrorCode> {
  if (prefix.length > ADDRESS_LENGTH) return versionPruned.notInSlice(prefix, version, oldestVersion)
  const message = `${SLICE}, so it cannot search all accounts`
  return new LedgerStateError('version_pruned', message, { version, oldestVersion })
}

/** Name of a state key, or of a prefix of one, in a message. */
function nameOfKey(key: Uint8Array): string {
  const id = key.subarray(1, 1 + ADDRESS_LENGTH)
  if (key[0] === 0) return `account ${addressToShortHex(id)}`
  return key[0] === 1 ? `table ${addressToShortHex(id)}` : `the key ${clip(bytesToHex(key))}`
}

/** Tells with which option an ingest keeps a key. */
function wayToKeep(key: Uint8Array, what: string): string {
  if (key[0] !== 0 && key[0] !== 1) return `no slice can keep ${what}`
  const option = key[0] === 0 ? '--only-account' : '--only-table'
  return `ingest with ${option} ${addressToShortHex(key.subarray(1, 1 + ADDRESS_LENGTH))} to keep ${what}`
}

export function invalidTypePattern(text: string): SliceError {
  const message = `${JSON.stringify(clip(text))} does not name types: expected 0x…::module::Name, 0x…::module::* or 0x…::*`
  return new LedgerStateError('invalid_type_tag', message)
}

export const invalidSlice = declareErrors('invalid_slice', {
  sliceOfNothing: () => 'the slice is empty: name an account, a table or a type',
  invalidSliceLine: (line: number, cause: unknown) => {
    const why = cause instanceof Error ? cause.message : String(cause)
    return [`line ${line}: ${why}; expected an address, "table" and a handle, or a type`, {}, cause]
  },
})

export const sliceMismatch = declareErrors('slice_mismatch', {
  /**
   * A store that keeps another slice.
   * @param asked lines of the slice that is asked for
   */
  otherSlice: (asked: readonly string[]) =>
    `the store keeps a different slice, and the values that it left out cannot be added later: use a separate store for ${listed(asked)}`,
  storeKeepsAll: () => 'the store keeps the whole ledger: use a separate store for a slice',
  /** Error for a store that has only the intent to keep a slice, or a part of the slice's state. */
  sliceCutShort: () =>
    'the ingest of a slice into this store was interrupted before the store had a version: give the same slice again to resume it, or use another store for the whole ledger',
})

/** Error for taking a slice from a source that keeps a slice itself. */
export function sourceKeepsSlice(place: string): KeepingError {
  const message = `${place}: the source itself keeps a slice; a store that follows it keeps the same slice and cannot have another`
  return new LedgerStateError('slice_mismatch', message)
}

export function sliceNeedsReopening(place: string): KeepingError {
  const message = `${place}: the source can be read only once, but a slice of a state is selected by reading the state several times; save the source as a file, and give the file`
  return new LedgerStateError('invalid_argument', message)
}

/**
 * A slice that grows with each pass over the state.
 * @param joining lines of the members that joined in the last pass
 */
export function sliceStillGrows(place: string, passes: number, joining: readonly string[]): KeepingError {
  const message = `${place}: the slice still grows after ${passes} passes over the state; the last pass added ${listed(joining)}. Name these in the slice, or ask for less`
  return new LedgerStateError('slice_unbounded', message)
}

export function stateChangedBetweenPasses(place: string): KeepingError {
  const message = `${place}: the state differs from the state of the earlier passes`
  return new LedgerStateError('source_failed', message)
}

function listed(lines: readonly string[]): string {
  const shown = lines.slice(0, 5).join(', ')
  return lines.length > 5 ? `${shown} and ${lines.length - 5} more` : shown
}

export const spillFailed = declareErrors('spill_failed', {
  cannotSpoolModules: (folder: string, cause: unknown) => [
    `cannot write a copy of the state's modules to ${folder}: ${cause instanceof Error ? cause.message : String(cause)}`,
    {},
    cause,
  ],
  diskOfModulesFull: (folder: string, free: number, spare: number) => {
    const inMebibytes = (bytes: number): string => `${Math.floor(bytes / (1 << 20))} MiB`
    return `the disk of ${folder} has ${inMebibytes(free)} free, but a copy of the state's modules must leave ${inMebibytes(spare)} free: nothing was stored`
  },
})
