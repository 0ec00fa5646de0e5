import { spawnSync } from 'node:child_process'
import * as lmdb from 'lmdb'
import { storeFailedErrors } from '../errors.js'
import { beginRead } from './begin-read.js'
import type { LmdbEnvironment, ReadTransaction } from './table.js'

// A defect of lmdb 3.5.6: a process that opens a data file, even for reading, sets the number of the last transaction
// in the lock file to the number it read from the meta pages a moment before (`mdb_env_open2`). If a commit was made in
// that moment, the next transaction builds on the state before it and overwrites it. Therefore each write transaction
// first compares its own number with the meta pages, and repairs the lock file if they differ. Until then, readers see
// the state before that commit, too, which may name files that it removed: a reader that misses one repairs the lock
// file too. If the writer commits at this moment, that commit may be taken back in turn, which the writer notices in
// the same way.

/** Offset of the last transaction in the lock file: u32 magic · u32 format · u64 number of the last transaction. */
const LAST_TRANSACTION_AT = 8

/** Error of a write transaction that does not build on the newest commit. */
export class StaleTransaction extends Error {}

/** Checks that the current write transaction builds on the newest commit. @throws `StaleTransaction` */
export function expectNewestState(root: LmdbEnvironment): void {
  const [ours, newest] = [root.getWriteTxnId(), root.env.info().lastTxnId]
  if (ours !== newest + 1) throw new StaleTransaction(`transaction ${ours} after transaction ${newest}`)
}

/**
 * Exported by lmdb-js 3.5.6 and not declared: the lower half of the number of the transaction that wrote the page that the
 * last read found its key in.
 */
const { getLastTxnId } = lmdb as unknown as { getLastTxnId(): number }

const MOST_REPAIRS = 3

/** Name of a table as lmdb-js writes it: a key of the database that has the roots of all tables, in one page. */
const NAME_OF_TABLE = Buffer.from('meta\0')

/**
 * Returns false if a read transaction sees the newest state. Otherwise the next one sees a newer state.
 * @throws `store_failed` if this process cannot correct the lock file: then the next transaction of the writer does it
 */
export function showNewer(root: LmdbEnvironment, transaction: ReadTransaction): boolean {
  if (seesNewest(root, transaction)) return false
  for (let repairs = 0; ; repairs++) {
    root.resetReadTxn()
    const next = beginRead(root)
    try {
      if (seesNewest(root, next)) return true
    } finally {
      next.done()
    }
    if (repairs === MOST_REPAIRS) throw storeFailedErrors.olderState(root.env.path, undefined)
    try {
      repairLastTransaction(root)
    } catch (cause) {
      throw storeFailedErrors.olderState(root.env.path, cause)
    }
  }
}

/**
 * Makes the next read of this turn see the newest state, which a transaction of this process may have just made.
 * @throws `store_failed` as `showNewer`
 */
export function seeNewest(root: LmdbEnvironment): void {
  root.resetReadTxn()
  const transaction = beginRead(root)
  try {
    showNewer(root, transaction)
  } finally {
    transaction.done()
  }
  root.resetReadTxn()
}

/**
 * Whether a read transaction sees the newest state, as of the meta pages. Each commit writes the page with the roots of
 * the tables.
 */
function seesNewest(root: LmdbEnvironment, transaction: ReadTransaction): boolean {
  root.getBinary(NAME_OF_TABLE, { transaction })
  return getLastTxnId() === root.env.info().lastTxnId % 2 ** 32
}

/** Corrects the lock file. Call it outside of a transaction. */
export function repairLastTransaction({ env }: LmdbEnvironment): void {
  const { lastTxnId } = env.info()
  // In another process: if this one closed the lock file, it would lose its locks on it.
  const write = `
    const { closeSync, openSync, writeSync } = require('node:fs')
    const number = Buffer.alloc(8)
    number.writeBigUInt64LE(${lastTxnId}n)
    const file = openSync(${JSON.stringify(`${env.path}-lock`)}, 'r+')
    writeSync(file, number, 0, 8, ${LAST_TRANSACTION_AT})
    closeSync(file)`
  const { status, stderr, error } = spawnSync(process.execPath, ['-e', write], { encoding: 'utf8' })
  if (status !== 0) throw new Error(`the lock file cannot be repaired: ${stderr}`, { cause: error })
}
