import { DatabaseSync } from 'node:sqlite'
import { LedgerStateError } from '@ledger-state/core'

/**
 * Takes the right to write to a store, and returns the function that gives it up.
 *
 * Node has no file lock of its own; SQLite's exclusive lock on an empty file is one. The kernel lets go of it when
 * the process ends in whatever way, and it holds between containers that share the folder, where process ids do not.
 * @throws `store_locked`
 */
export function acquireWriterLock(file: string): () => void {
  const lock = new DatabaseSync(file, { timeout: 0 })
  try {
    lock.exec('BEGIN EXCLUSIVE')
  } catch (cause) {
    lock.close()
    if (!/locked/.test(String(cause))) throw cause
    throw new LedgerStateError(
      'store_locked',
      `another process writes to this store and holds ${file}; stop it first`,
      {},
      { cause },
    )
  }
  return () => lock.close()
}
