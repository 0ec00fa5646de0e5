import { isLedgerStateError } from '@ledger-state/core'
import { isSystemError } from '@ledger-state/core/files'
import { storeCorrupt, storeFailed } from '@ledger-state/engine/authoring'
import { storeFailedErrors } from '../errors.js'

/**
 * Messages of LMDB about damage. `MDB_BAD_TXN` follows another of these errors, which lmdb-js may not have reported;
 * keys and values of wrong sizes are refused before they get to LMDB.
 */
const DAMAGE =
  /MDB_(?:CORRUPTED|PAGE_NOTFOUND|PROBLEM|BAD_TXN|BAD_VALSIZE|CURSOR_FULL|PAGE_FULL|INCOMPATIBLE)\b|freelist/
/** Messages of LMDB, and of lmdb-js about its transactions. */
const OF_LMDB = /\bMDB_|\btransaction\b|\bdatabase\b/

/**
 * Errors of a transaction that did not begin. lmdb-js 3.5.6 ignores that a write transaction could not begin
 * (`EnvWrap::beginTxn`), so LMDB is given none: MDB_BAD_TXN, which is no damage, or EINVAL. A mutex that cannot be
 * taken is EINVAL too.
 */
const NOT_BEGUN = /No transaction to renew|Transaction flag was invalid for renew/
const EINVAL = 22

/**
 * Converts an error of LMDB to `store_corrupt` if it reports damage, and to `store_failed` if a transaction did not begin;
 * other errors stay as they are.
 */
export function toDamage(cause: unknown): unknown {
  if (!(cause instanceof Error) || isLedgerStateError(cause)) return cause
  if ((cause as { code?: unknown }).code === EINVAL || NOT_BEGUN.test(cause.message))
    return storeFailedErrors.notBegun(cause)
  if (!DAMAGE.test(cause.message)) return cause
  return storeCorrupt(
    `LMDB cannot continue: ${cause.message.replace(/MDB_\w+: /, '').trim()}; a check says where`,
    cause,
  )
}

/** Converts an error of a read to an error of the store, if it is of LMDB or of the system. */
export function toReadError(cause: unknown): unknown {
  const damage = toDamage(cause)
  if (damage !== cause || !(cause instanceof Error) || isLedgerStateError(cause)) return damage
  const isOfLmdb = typeof (cause as { code?: unknown }).code === 'number' || OF_LMDB.test(cause.message)
  return isOfLmdb || isSystemError(cause) ? storeFailed(cause.message, cause) : cause
}

export interface ReadMethods {
  getBinary(key: unknown, options?: unknown): unknown
  getRange(options: unknown): Iterable<unknown>
}

/** Makes the methods of a class of databases throw errors of the store. */
export function reportReadErrors(prototype: ReadMethods): void {
  const { getBinary, getRange } = prototype
  prototype.getBinary = function (this: ReadMethods, key, options) {
    try {
      return getBinary.call(this, key, options)
    } catch (cause) {
      throw toReadError(cause)
    }
  }
  // The method getKeys of lmdb-js calls this one.
  prototype.getRange = function (this: ReadMethods, options) {
    const range = getRange.call(this, options)
    return {
      *[Symbol.iterator]() {
        try {
          yield* range
        } catch (cause) {
          throw toReadError(cause)
        }
      },
    }
  }
}
