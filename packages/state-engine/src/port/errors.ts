import { clip, LedgerStateError } from '@ledger-state/core'

/** Codes of what a store refuses or suffers; every reader of state may also throw the `StateErrorCode`s of core. */
export type StoreErrorCode =
  | 'invalid_argument'
  | 'version_gap'
  | 'block_order'
  | 'duplicate_key'
  | 'chain_id_mismatch'
  | 'key_too_long'
  | 'value_too_long'
  | 'store_missing'
  | 'store_not_empty'
  | 'store_locked'
  | 'store_read_only'
  | 'store_closed'
  | 'store_format'
  | 'store_corrupt'
  | 'store_full'
  | 'store_failed'

type StoreError = LedgerStateError<StoreErrorCode>

/** `what` names the argument, `expected` says what it should be. */
export function invalidArgument(what: string, expected: string, found: unknown): StoreError {
  return new LedgerStateError('invalid_argument', `${what} is ${describe(found)}, expected ${expected}`)
}

function describe(value: unknown): string {
  if (value === null || value === undefined) return String(value)
  if (typeof value === 'string') return `the string ${JSON.stringify(clip(value))}`
  if (Array.isArray(value)) return 'an array'
  if (typeof value === 'object' || typeof value === 'function') {
    return `a value of type ${typeof value === 'function' ? 'function' : (value.constructor?.name ?? 'object')}`
  }
  return `the ${typeof value} ${clip(String(value))}`
}

/** The error of an import whose place another import or a commit has taken; `version` is in its fields. */
export function importReplaced(version: bigint): StoreError {
  const message = `the import of version ${version} was replaced by another import or by a commit`
  return new LedgerStateError('invalid_argument', message, { version })
}

export function markTooLong(length: number, most: number): StoreError {
  return new LedgerStateError('invalid_argument', `the mark has ${length} bytes, at most ${most} are allowed`)
}

export function entryFromLaterVersion(version: bigint, stateVersion: bigint): StoreError {
  const message = `an entry was written by version ${version}, later than the imported version ${stateVersion}`
  return new LedgerStateError('invalid_argument', message)
}

export function versionGap(previous: bigint, found: bigint): StoreError {
  const expected = previous + 1n
  const message = `version ${found} does not follow version ${previous}, expected ${expected}`
  return new LedgerStateError('version_gap', message, { expected, found })
}

export function firstBlockMissing(version: bigint): StoreError {
  return new LedgerStateError('block_order', `version ${version} is the first of the store but begins no block`)
}

export function blockNotHigher(version: bigint, height: bigint, previousHeight: bigint): StoreError {
  const message = `version ${version} begins block ${height}, which is not higher than the previous block ${previousHeight}`
  return new LedgerStateError('block_order', message)
}

export function blockEarlier(version: bigint, timestampUsec: bigint, previousUsec: bigint): StoreError {
  const message = `version ${version} begins a block at ${timestampUsec} µs, which is before the time ${previousUsec} µs of the previous block`
  return new LedgerStateError('block_order', message)
}

/** The error of a version that writes one key twice; `version` is in its fields. */
export function duplicateKey(version: bigint): StoreError {
  return new LedgerStateError('duplicate_key', `version ${version} writes one key twice`, { version })
}

export function chainIdMismatch(expected: bigint, found: bigint): StoreError {
  const message = `the commit is for chain ${found}, but the store holds chain ${expected}`
  return new LedgerStateError('chain_id_mismatch', message, { expected, found })
}

export function keyTooLong(version: bigint, length: number, most: number): StoreError {
  return new LedgerStateError(
    'key_too_long',
    `version ${version} writes a key of ${length} bytes, the limit is ${most}`,
  )
}

export function valueTooLong(version: bigint, length: number, most: number): StoreError {
  const message = `version ${version} writes a value of ${length} bytes, the limit is ${most}`
  return new LedgerStateError('value_too_long', message)
}

export function storeMissing(path: string): StoreError {
  return new LedgerStateError('store_missing', `there is no ledger store in ${path}`)
}

/** `fate` is what happened to the file while it was open. */
export function storeFileGone(file: string, fate: 'removed' | 'replaced'): StoreError {
  const message = `${file} was ${fate} while it was open; further writes would be lost`
  return new LedgerStateError('store_missing', message, { fate })
}

/** The error of an import into a store that has versions. */
export function importNeedsEmptyStore(): StoreError {
  return new LedgerStateError(
    'store_not_empty',
    'a state can only be imported into an empty store; this one has versions',
  )
}

export function folderHasStore(path: string): StoreError {
  return new LedgerStateError('store_not_empty', `${path} holds a store already`)
}

/** Another process, or another thread of this one. */
export function storeLocked(holder: string, cause: unknown): StoreError {
  const message = `another writer has this store open and holds ${holder}; stop it first`
  return new LedgerStateError('store_locked', message, { holder: 'another' }, { cause })
}

export function storeLockedHere(holder: string, cause?: unknown): StoreError {
  const message = `this program has the store open for writing already and holds ${holder}; close that engine first`
  return new LedgerStateError('store_locked', message, { holder: 'self' }, { cause })
}

export function nodeTooOld(what: string, first: string): StoreError {
  return new LedgerStateError('store_failed', `${what} needs Node.js ${first} or newer; this is ${process.version}`)
}

export function storeReadOnly(): StoreError {
  return new LedgerStateError('store_read_only', 'the store is open for reading only')
}

export function storeNotWritable(path: string, why: string, cause: unknown): StoreError {
  return new LedgerStateError('store_read_only', `this process cannot write to ${path}: ${why}`, {}, { cause })
}

export function storeNotReadable(path: string, why: string, cause: unknown): StoreError {
  return new LedgerStateError('store_failed', `this process cannot read ${path}: ${why}`, {}, { cause })
}

/** The error of a call after `close`. */
export function storeClosed(): StoreError {
  return new LedgerStateError('store_closed', 'the store is closed')
}

export function notAStore(file: string, why: string, cause?: unknown): StoreError {
  return new LedgerStateError('store_format', `${file} is not a ledger store: ${why}`, {}, { cause })
}

export function layoutUnknown(file: string, version: number, ours: number): StoreError {
  const message = `${file} has layout ${version}, and this program reads layout ${ours}: ingest again, into an empty folder`
  return new LedgerStateError('store_format', message, { version })
}

/** The error of a damaged store; `why` says what is wrong with it. */
export function storeCorrupt(why: string, cause?: unknown): StoreError {
  return new LedgerStateError('store_corrupt', `the store is damaged: ${why}`, {}, { cause })
}

export function writeAheadDamaged(file: string, offset: number, why: string): StoreError {
  const message = `the store is damaged: ${file} at byte ${offset}: ${why}`
  return new LedgerStateError('store_corrupt', message, { offset })
}

/** The error of a write-ahead file that lacks the commits from `first` to `until - 1`; `because` says how that is known. */
export function commitsMissing(
  file: string,
  offset: number,
  first: number,
  until: number,
  because: string,
): StoreError {
  const missingCommits = until - first
  if (missingCommits < 1) return writeAheadDamaged(file, offset, `the record that seals it is missing: ${because}`)
  const which = missingCommits === 1 ? `commit ${first} is` : `${missingCommits} commits are`
  const range = missingCommits === 1 ? '' : ` (${first} to ${until - 1})`
  const message = `the store is damaged: ${file} at byte ${offset}: ${which} missing or damaged${range}: ${because}`
  return new LedgerStateError('store_corrupt', message, { offset, missingCommits })
}

export function dataFileCutShort(file: string, found: number, needed: number): StoreError {
  const message = `the store is damaged: the file is cut short: ${found} of ${needed} bytes (${file})`
  return new LedgerStateError('store_corrupt', message, { found, needed })
}

export function storeFull(path: string, cause: unknown): StoreError {
  return new LedgerStateError('store_full', `the disk of ${path} is full`, {}, { cause })
}

export function writerBroken(cause: unknown): StoreError {
  const message = 'the store failed: a commit could not be written or undone; reopen the store'
  return new LedgerStateError('store_failed', message, {}, { cause })
}

/** The error of every other failure of a store, such as one of the system; `why` says what failed. */
export function storeFailed(why: string, cause: unknown): StoreError {
  return new LedgerStateError('store_failed', `the store failed: ${why}`, {}, { cause })
}
