import { realpathSync } from 'node:fs'
import { dirname } from 'node:path'
import { FIRST_NODE_WITH_LOCKS, lockFile } from '@ledger-state/core/files'
import { storeLockedHere } from '@ledger-state/engine/authoring'
import { storeFailedErrors, storeLocked } from '../errors.js'

/** Folders whose lock this thread holds. The holder of any other lock cannot be found out. */
const HELD_HERE = new Set<string>()

/**
 * Takes the writer lock of a store. Returns a function that releases it. Readers take none, so that they run on a Node.js
 * without locks of files.
 * @throws `store_locked`; `store_failed` if Node.js has no locks of files
 */
export function acquireWriterLock(file: string): () => void {
  const folder = realpathSync(dirname(file))
  const release = lockFile(file, (cause) =>
    HELD_HERE.has(folder) ? storeLockedHere(file, cause) : storeLocked(file, cause),
  )
  if (!release) throw storeFailedErrors.nodeTooOld('writing to a store', FIRST_NODE_WITH_LOCKS)
  HELD_HERE.add(folder)
  return () => {
    HELD_HERE.delete(folder)
    release()
  }
}
