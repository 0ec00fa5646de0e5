import { realpathSync } from 'node:fs'
import { dirname } from 'node:path'
import { storeLockedHere } from '@ledger-state/engine/authoring'
import { nodeTooOld, storeLocked } from '../errors.js'

/** The first Node.js whose `node:sqlite` needs no flag. */
const FIRST_NODE_WITH_SQLITE = '22.13'

/** Folders whose lock this thread holds. Of another lock nobody can say whose it is. */
const HELD_HERE = new Set<string>()

/**
 * Takes the writer lock of a store; the returned function releases it.
 *
 * Node has no file lock; SQLite's exclusive lock on an empty file is one. The kernel releases it however the
 * process ends, and it holds between containers that share the folder, where process ids do not. SQLite is loaded here, so
 * that readers run on a Node.js without it.
 * @throws `store_locked`; `store_failed` if Node.js has no SQLite
 */
export function acquireWriterLock(file: string): () => void {
  const sqlite = loadSqlite()
  if (sqlite === undefined) throw nodeTooOld('writing to a store', FIRST_NODE_WITH_SQLITE)
  const lock = new sqlite.DatabaseSync(file, { timeout: 0 })
  const folder = realpathSync(dirname(file))
  try {
    lock.exec('BEGIN EXCLUSIVE')
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

/** Loads SQLite without the warning of Node.js 22 that it is experimental: of SQLite we use nothing but its file lock. */
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
