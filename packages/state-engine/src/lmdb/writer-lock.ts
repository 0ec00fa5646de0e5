import { DatabaseSync } from 'node:sqlite'
import { storeLocked } from '../port/errors.js'

/**
 * Takes the writer lock of a store; the returned function releases it.
 *
 * Node has no file lock of its own; SQLite's exclusive lock on an empty file is one. The kernel releases it however the
 * process ends, and it holds between containers that share the folder, where process ids do not.
 * @throws `store_locked`
 */
export function acquireWriterLock(file: string): () => void {
  const lock = new DatabaseSync(file, { timeout: 0 })
  try {
    lock.exec('BEGIN EXCLUSIVE')
  } catch (cause) {
    lock.close()
    if (!/locked/.test(String(cause))) throw cause
    throw storeLocked(file, cause)
  }
  return () => lock.close()
}
