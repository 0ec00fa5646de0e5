import { join } from 'node:path'
import { lockFile, makeFolderNow } from '@ledger-state/core/files'
import { auditRunning } from '../errors.js'

/**
 * Takes the lock of the folder of an audit. Returns a function that releases it.
 * @throws `audit_running`
 */
export function lockAudit(folder: string): () => void {
  makeFolderNow(folder)
  // The program needs a Node.js that has locks.
  return lockFile(join(folder, 'audit.lock'), (cause) => auditRunning(folder, cause))!
}
