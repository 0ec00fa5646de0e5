import { spawnSync } from 'node:child_process'
import type { LmdbEnvironment } from './table.js'

// A defect of lmdb 3.5.6: a process that opens a data file, also for reading, sets the number of the last transaction in
// the lock file to what it read from the meta pages a moment before (`mdb_env_open2`). If a commit was made in that moment,
// the next transaction builds on the state before it and overwrites it. So each write transaction first compares its own
// number with the meta pages, and repairs the lock file if they do not agree.

/** Offset of the last transaction in the lock file: u32 magic · u32 format · u64 number of the last transaction. */
const LAST_TRANSACTION_AT = 8

/** Error of a write transaction that does not build on the newest commit. */
export class StaleTransaction extends Error {}

/** Checks that the current write transaction builds on the newest commit. @throws `StaleTransaction` */
export function expectNewestState(root: LmdbEnvironment): void {
  const [ours, newest] = [root.getWriteTxnId(), root.env.info().lastTxnId]
  if (ours !== newest + 1) throw new StaleTransaction(`transaction ${ours} after transaction ${newest}`)
}

/** Corrects the lock file. Call it outside of a transaction, in the process of the only writer. */
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
