import { join } from 'node:path'
import { makeFolderNow } from '@ledger-state/core/files'
import { auditRunning } from '../errors.js'
import { lockFile } from './file-lock.js'

/**
 * Takes the lock of the folder of an audit. Returns a function that releases it.
 * @throws `audit_running`
 */
export function lockAudit(folder: string): () => void {
  makeFolderNow(folder)
  return lockFile(join(folder, 'audit.lock'), (cause) => auditRunning(folder, cause))
}
