import type { Environment } from './table.js'

const MOST_TRIES = 4

/**
 * Runs work in a write transaction; what it throws undoes all of it. The work may be run again and must then do the same.
 *
 * The LMDB of lmdb 3.5.6 now and then gives a transaction up for no reason: in `mdb_freelist_save` it looks at the length
 * of a record of its free list before it looks at whether that record was found. Seen once in some 700 transactions
 * while another process reads. The store is as before, and the next try begins with a free list read anew.
 */
export function runTransaction<T>(root: Environment, work: () => T): T {
  for (let tries = 1; ; tries++) {
    try {
      return root.transactionSync(work)
    } catch (error) {
      if (tries === MOST_TRIES || !isFreeListFault(error)) throw error
    }
  }
}

function isFreeListFault(error: unknown): boolean {
  return error instanceof Error && /reserved freelist had a data entry with zero-size/.test(error.message)
}
