import { toReadError } from './damage-errors.js'
import type { LmdbEnvironment, ReadTransaction } from './table.js'

const MOST_TRIES = 3

/**
 * Begins a read transaction. lmdb-js 3.5.6 keeps one that could not begin, and ignores some of these failures, so the next
 * try begins with a new one.
 * @throws `store_failed`, for instance if all slots for readers are taken; `store_corrupt`
 */
export function beginRead(root: LmdbEnvironment): ReadTransaction {
  for (let tries = 1; ; tries++) {
    try {
      return root.useReadTransaction()
    } catch (error) {
      resetRead(root)
      if (tries === MOST_TRIES) throw toReadError(error)
    }
  }
}

function resetRead(root: LmdbEnvironment): void {
  try {
    root.resetReadTxn()
  } catch {
    // The error of the transaction tells more.
  }
}
