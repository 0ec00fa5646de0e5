import { isLedgerStateError } from '@ledger-state/core'
import { isSystemError } from '@ledger-state/core/files'
import { storeFailed } from '@ledger-state/engine/authoring'
import { storeFormat, storeFull, storeReadOnly } from '../errors.js'
import { toDamage } from './damage-errors.js'
import { freeBytes } from './free-bytes.js'

/** Free space below which a failed write is reported as a full disk. */
const FULL_BELOW_BYTES = 2 ** 20

/** Runs work on the store in a folder, and converts errors of LMDB or the system to errors of the store. */
export function withStoreErrors<T>(path: string, work: () => T): T {
  try {
    return work()
  } catch (cause) {
    throw toStoreError(path, cause)
  }
}

/** Same as `withStoreErrors`, for work that waits. */
export async function withStoreErrorsAsync<T>(path: string, work: () => Promise<T>): Promise<T> {
  try {
    return await work()
  } catch (cause) {
    throw toStoreError(path, cause)
  }
}

/**
 * Same as `withStoreErrors`, for all work of an engine: every call of the system that fails on its way is an error of the
 * store. Errors of other kinds, such as those of a listener, stay as they are.
 */
export function withSystemErrors<T>(path: string, work: () => T): T {
  try {
    return work()
  } catch (cause) {
    throw isSystemError(cause) ? toStoreError(path, cause) : cause
  }
}

/**
 * Runs work that waits on a folder of a store: every failed system call becomes an error of the store, such as
 * `store_full`.
 */
export async function withSystemErrorsAsync<T>(path: string, work: () => Promise<T>): Promise<T> {
  try {
    return await work()
  } catch (cause) {
    throw isSystemError(cause) ? toStoreError(path, cause) : cause
  }
}

/** Converts an error of LMDB or the system to an error of the store in a folder. */
export function toStoreError(path: string, cause: unknown): unknown {
  if (isLedgerStateError(cause)) return cause
  const why = cause instanceof Error ? cause.message : String(cause)
  // LMDB reports a short write as an I/O error; mostly the disk is full.
  const isShortWrite = /Input\/output error/.test(why)
  if (
    /ENOSPC|EDQUOT|No space left|disk is full|MDB_MAP_FULL/i.test(why) ||
    (isShortWrite && freeBytes(path) < FULL_BELOW_BYTES)
  )
    return storeFull(path, cause)
  if (/EACCES|Permission denied|EROFS|Read-only file system|readonly database|unable to open database/i.test(why))
    return storeReadOnly.storeNotWritable(path, why, cause)
  if (/MDB_INVALID|MDB_VERSION_MISMATCH/.test(why)) return storeFormat.notAStore(path, why, cause)
  const damage = toDamage(cause)
  if (damage !== cause) return damage
  const hint = isShortWrite ? ' (has a quota or a limit on the size of files been reached?)' : ''
  return storeFailed(`${why}${hint}`, cause)
}
