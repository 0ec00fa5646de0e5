import { ADDRESS_LENGTH, addressToShortHex, bytesToHex, clip, LedgerStateError } from '@ledger-state/core'
import type { StateErrorCode } from '@ledger-state/engine'

/** Codes of slices that cannot be parsed. */
export type SliceErrorCode = 'invalid_slice' | 'invalid_type_tag'

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
