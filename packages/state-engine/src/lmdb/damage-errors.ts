import { isLedgerStateError } from '@ledger-state/core'
import { storeCorrupt } from '@ledger-state/engine/authoring'

/**
 * Messages of LMDB about damage. `MDB_BAD_TXN` follows another of these errors, which lmdb-js may not have reported;
 * keys and values of wrong sizes are refused before they get to LMDB.
 */
const DAMAGE =
  /MDB_(?:CORRUPTED|PAGE_NOTFOUND|PROBLEM|BAD_TXN|BAD_VALSIZE|CURSOR_FULL|PAGE_FULL|INCOMPATIBLE)\b|freelist/

/** Converts an error of LMDB to `store_corrupt` if it reports damage; other errors stay as they are. */
export function toDamage(cause: unknown): unknown {
  if (!(cause instanceof Error) || isLedgerStateError(cause) || !DAMAGE.test(cause.message)) return cause
  return storeCorrupt(
    `LMDB cannot continue: ${cause.message.replace(/MDB_\w+: /, '').trim()}; a check says where`,
    cause,
  )
}

export interface ReadMethods {
  getBinary(key: unknown, options?: unknown): unknown
  getRange(options: unknown): Iterable<unknown>
}

/** Makes the methods of a class of databases throw `store_corrupt` if they meet damage. */
export function reportDamage(prototype: ReadMethods): void {
  const { getBinary, getRange } = prototype
  prototype.getBinary = function (this: ReadMethods, key, options) {
    try {
      return getBinary.call(this, key, options)
    } catch (cause) {
      throw toDamage(cause)
    }
  }
  prototype.getRange = function (this: ReadMethods, options) {
    const range = getRange.call(this, options)
    return {
      *[Symbol.iterator]() {
        try {
          yield* range
        } catch (cause) {
          throw toDamage(cause)
        }
      },
    }
  }
}
