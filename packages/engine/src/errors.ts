import { clip, declareErrors, LedgerStateError } from '@ledger-state/core'

declare module '@ledger-state/core' {
  interface ErrorFieldsByCode {
    /** `version` or `timestampUsec`, whichever was asked for. */
    version_not_found: { readonly version?: bigint; readonly timestampUsec?: bigint }
    version_pruned: { readonly version?: bigint; readonly timestampUsec?: bigint; readonly oldestVersion: bigint }
    version_truncated: { readonly version: bigint }
    /** Versions; a feed that begins later leaves `found` out. `answers` of a source in a row showed it. */
    version_gap: { readonly expected: bigint; readonly found?: bigint; readonly answers?: number }
    /** Chain ids; there if a commit is refused. `answers` of a source in a row showed it. */
    chain_id_mismatch: { readonly expected?: bigint; readonly found?: bigint; readonly answers?: number }
    /** `version` if another import replaced the import of this version; `option` if an option would help. */
    invalid_argument: { readonly version?: bigint; readonly option?: string }
    /** `version` if a commit writes the key twice. */
    duplicate_key: { readonly version?: bigint }
    store_locked: { readonly holder?: 'self' | 'another' }
    /** `processId` if a process of another pid namespace has the store open under the same number. */
    store_failed: { readonly processId?: number }
    store_missing: { readonly fate?: 'removed' | 'replaced' }
    /** `version` of the layout, if it is not this program's version. */
    store_format: { readonly version?: number }
    /** `offset` and `missingCommits` in a WAL file; `found` and `needed` bytes of a data file that was cut short. */
    store_corrupt: {
      readonly offset?: number
      readonly missingCommits?: number
      readonly found?: number
      readonly needed?: number
    }
  }
}

/** Codes that every reader of state may throw, whatever stores the state. */
export type StateErrorCode = 'no_ledger' | 'version_not_found' | 'version_pruned' | 'version_truncated'

type StateError = LedgerStateError<StateErrorCode>

/** Error of a read while nothing was ingested. */
export function noLedger(): StateError {
  return new LedgerStateError('no_ledger', 'nothing was ingested yet: the store is empty')
}

/** Error of a read above the latest version; `version` is in its fields. */
export function versionNotFound(version: bigint): StateError {
  return new LedgerStateError('version_not_found', `Ledger version not found by Ledger version(${version})`, {
    version,
  })
}

/** Error of a read below the window; `version` and `oldestVersion` are in its fields. */
export function versionPruned(version: bigint, oldestVersion: bigint): StateError {
  const message = `Ledger version(${version}) has been pruned`
  return new LedgerStateError('version_pruned', message, { version, oldestVersion })
}

/** Error of a read of a version that was cut off since it was asked for; `version` is in its fields. */
export function versionTruncated(version: bigint): StateError {
  return new LedgerStateError('version_truncated', `Ledger version(${version}) was cut off by a truncation`, {
    version,
  })
}

/** Codes of errors of a store, in addition to the `StateErrorCode`s of every reader of state. */
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

/** Error of a wrong argument. `what` names the argument, `expected` says what it should be. */
export function invalidArgument(what: string, expected: string, found: unknown): StoreError {
  return new LedgerStateError('invalid_argument', `${what} is ${describe(found)}, expected ${expected}`)
}

export const invalidArgumentErrors = declareErrors('invalid_argument', {
  /** Error of an option that does not exist. `nearest` is the option that was probably meant. */
  unknownOption: (what: string, name: string, nearest: string | undefined) => {
    const hint = nearest === undefined ? '' : `; did you mean "${nearest}"?`
    return `${what} have no member "${clip(name)}"${hint}`
  },
  markTooLong: (length: number, most: number) => `the mark has ${length} bytes; the limit is ${most}`,
  entryFromLaterVersion: (version: bigint, stateVersion: bigint) =>
    `an entry was written by version ${version}, later than the imported version ${stateVersion}`,
})

function describe(value: unknown): string {
  if (value === null || value === undefined) return String(value)
  if (typeof value === 'string') return `the string ${JSON.stringify(clip(value))}`
  if (Array.isArray(value)) return 'an array'
  if (typeof value === 'object' || typeof value === 'function') {
    return `a value of type ${typeof value === 'function' ? 'function' : (value.constructor?.name ?? 'object')}`
  }
  return `the ${typeof value} ${clip(String(value))}`
}

/** Error of an import that another import or a commit has replaced; `version` is in its fields. */
export function importReplaced(version: bigint): StoreError {
  const message = `the import of version ${version} was replaced by another import or by a commit`
  return new LedgerStateError('invalid_argument', message, { version })
}

export function versionGap(previous: bigint, found: bigint): StoreError {
  const expected = previous + 1n
  const message = `version ${found} does not follow version ${previous}; expected ${expected}`
  return new LedgerStateError('version_gap', message, { expected, found })
}

export const blockOrder = declareErrors('block_order', {
  firstBlockMissing: (version: bigint) => `version ${version} is the first of the store but does not begin a block`,
  blockNotHigher: (version: bigint, height: bigint, previousHeight: bigint) =>
    `version ${version} begins block ${height}, which is not higher than the previous block ${previousHeight}`,
  blockEarlier: (version: bigint, timestampUsec: bigint, previousUsec: bigint) =>
    `version ${version} begins a block at ${timestampUsec} µs, which is before the time ${previousUsec} µs of the previous block`,
})

/** Error of a version that writes one key twice; `version` is in its fields. */
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
    `version ${version} writes a key of ${length} bytes; the limit is ${most}`,
  )
}

export function valueTooLong(version: bigint, length: number, most: number): StoreError {
  const message = `version ${version} writes a value of ${length} bytes; the limit is ${most}`
  return new LedgerStateError('value_too_long', message)
}

/** Error of an import into a store that has versions. */
export function importNeedsEmptyStore(): StoreError {
  return new LedgerStateError(
    'store_not_empty',
    'a state can only be imported into an empty store; this one has versions',
  )
}

/** Error of a second writer in the same process. */
export function storeLockedHere(holder: string, cause?: unknown): StoreError {
  const message = `this program already has the store open for writing and holds ${holder}; close that engine first`
  return new LedgerStateError('store_locked', message, { holder: 'self' }, { cause })
}

/** Error of a call after `close`. */
export function storeClosed(): StoreError {
  return new LedgerStateError('store_closed', 'the store is closed')
}

/** Error of a damaged store; `why` says what is wrong with it. */
export function storeCorrupt(why: string, cause?: unknown): StoreError {
  return new LedgerStateError('store_corrupt', `the store is damaged: ${why}`, {}, { cause })
}

/** Error of any other failure of a store, such as one of the system; `why` says what failed. */
export function storeFailed(why: string, cause: unknown): StoreError {
  return new LedgerStateError('store_failed', `the store failed: ${why}`, {}, { cause })
}
