import { join } from 'node:path'
import { makeFolderNow } from '@ledger-state/core/files'
import { auditRunning } from '../errors.js'

/**
 * Takes the lock of the folder of an audit. Returns a function that releases it. The lock is SQLite's exclusive lock on an
 * empty file, because Node has no file lock. The kernel releases it however the process ends.
 * @throws `audit_running`
 */
export function lockAudit(folder: string): () => void {
  makeFolderNow(folder)
  const { DatabaseSync } = process.getBuiltinModule('node:sqlite')
  const lock = new DatabaseSync(join(folder, 'audit.lock'), { timeout: 0 })
  try {
    lock.exec('BEGIN EXCLUSIVE')
  } catch (cause) {
    lock.close()
    if (!/locked/.test(String(cause))) throw cause
    throw auditRunning(folder, cause)
  }
  return () => lock.close()
}
