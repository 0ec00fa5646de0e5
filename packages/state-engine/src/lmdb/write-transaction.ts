import { beginRead } from './begin-read.js'
import type { Durability } from './durability.js'
import { expectNewestState, repairLastTransaction, StaleTransaction } from './last-transaction.js'
import type { LmdbEnvironment } from './table.js'

const MOST_TRIES = 4

/** Flags of lmdb-js: an error of the work aborts the transaction, and the commit is synchronous. */
const SYNCHRONOUS = 0b11
/** Flags of LMDB for each durability: MDB_NOMETASYNC and MDB_NOSYNC. */
const DURABILITY_FLAGS: Readonly<Record<Durability, number>> = { full: 0, ordered: 0x4_0000, none: 0x1_0000 }

/**
 * Runs work in a write transaction. An error of the work undoes all of it. The work may be run again, and must then do
 * the same, because of two defects of lmdb 3.5.6: see `last-transaction.ts`, and `isFreeListFault`.
 */
export function runTransaction<T>(root: LmdbEnvironment, durability: Durability, work: () => T): T {
  const whole = () => {
    expectNewestState(root)
    return work()
  }
  for (let tries = 1; ; tries++) {
    // lmdb-js ignores that a write transaction could not begin, and then uses memory of another (`EnvWrap::beginTxn`).
    expectSoundEnvironment(root)
    try {
      return root.transactionSync(whole, SYNCHRONOUS | DURABILITY_FLAGS[durability])
    } catch (error) {
      const isStale = error instanceof StaleTransaction
      if (tries === MOST_TRIES || !(isStale || isFreeListFault(error))) throw error
      if (isStale) repairLastTransaction(root)
    }
  }
}

/** Error with which a transaction is undone that has done its work. */
class Undo extends Error {}

/** Runs work in a write transaction, and undoes it. Returns the result of the work. */
export function tryTransaction<T>(root: LmdbEnvironment, work: () => T): T {
  let result: T
  try {
    return runTransaction(root, 'none', () => {
      result = work()
      throw new Undo()
    })
  } catch (error) {
    if (error instanceof Undo) return result!
    throw error
  }
}

/** Checks that LMDB accepts transactions: after a fault of the disk it may refuse all of them until the file is opened again. */
function expectSoundEnvironment(root: LmdbEnvironment): void {
  root.resetReadTxn()
  beginRead(root).done()
  // Otherwise the next read of this turn would see the state before the transaction.
  root.resetReadTxn()
}

/**
 * Whether LMDB aborted a transaction for no reason: `mdb_freelist_save` reads the length of a record of the free list
 * before it checks whether that record was found. It was seen once in about 700 transactions while another process read.
 * The store is unchanged, and the next try reads the free list again.
 */
function isFreeListFault(error: unknown): boolean {
  return error instanceof Error && /reserved freelist had a data entry with zero-size/.test(error.message)
}
