import { closeSync, openSync, realpathSync } from 'node:fs'
import { dirname } from 'node:path'
import { isPresent } from '@ledger-state/core/files'
import { storeLockedHere } from '@ledger-state/engine/authoring'
import { storeFailedErrors, storeLocked } from '../errors.js'

/** First Node.js whose `node:sqlite` needs no flag. */
const FIRST_NODE_WITH_SQLITE = '22.13'

/** Folders whose lock this thread holds. The holder of any other lock cannot be found out. */
const HELD_HERE = new Set<string>()

/**
 * Takes the writer lock of a store. Returns a function that releases it.
 *
 * Node has no file lock, so the lock is SQLite's exclusive lock on an empty file. The kernel releases it however the
 * process ends, and it holds between containers that share the folder, whose process ids are unrelated. SQLite is loaded
 * here, so that readers run on a Node.js without it.
 * @throws `store_locked`; `store_failed` if Node.js has no SQLite
 */
export function acquireWriterLock(file: string): () => void {
  const sqlite = loadSqlite()
  if (sqlite === undefined) throw storeFailedErrors.nodeTooOld('writing to a store', FIRST_NODE_WITH_SQLITE)
  createIfMissing(file)
  const lock = new sqlite.DatabaseSync(file, { timeout: 0 })
  const folder = realpathSync(dirname(file))
  try {
    // A journal on disk would need room, and SQLite does not say that there is none.
    lock.exec('PRAGMA journal_mode = MEMORY; BEGIN EXCLUSIVE')
  } catch (cause) {
    lock.close()
    if (!/locked/.test(String(cause))) throw cause
    throw HELD_HERE.has(folder) ? storeLockedHere(file, cause) : storeLocked(file, cause)
  }
  HELD_HERE.add(folder)
  return () => {
    HELD_HERE.delete(folder)
    lock.close()
  }
}

/** Creates the file, because SQLite does not say whether it may not or the disk is full. */
function createIfMissing(file: string): void {
  // To close a file that is there would drop a lock of this process.
  if (isPresent(file)) return
  try {
    closeSync(openSync(file, 'wx'))
  } catch (error) {
    // Another process has just created it.
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error
  }
}

/**
 * Loads SQLite without the warning of Node.js 22 that it is experimental: we use nothing of SQLite but its file lock.
 */
function loadSqlite(): typeof import('node:sqlite') | undefined {
  const { emitWarning } = process
  process.emitWarning = (warning: string | Error, ...rest: unknown[]) => {
    if (!String(warning).startsWith('SQLite is an experimental'))
      Reflect.apply(emitWarning, process, [warning, ...rest])
  }
  try {
    return process.getBuiltinModule?.('node:sqlite')
  } finally {
    process.emitWarning = emitWarning
  }
}
