import { join } from 'node:path'
import { lockFile } from '@ledger-state/core/files'
import { auditRunning } from '../errors.js'
import { makeDataFolder } from './make-data-folder.js'

/**
 * Takes the lock of the folder of an audit. Returns a function that releases it.
 * @throws `audit_running`; `usage` if the folder cannot be created
 */
export function lockAudit(folder: string): () => void {
  makeDataFolder(folder)
  // The program needs a Node.js that has locks.
  return lockFile(join(folder, 'audit.lock'), (cause) => auditRunning(folder, cause))!
}
