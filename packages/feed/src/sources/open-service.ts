import { invalidArgument } from '../errors.js'
import { toRemoteUrl } from '../requests/remote-url.js'
import { ServiceStorage } from '../service/service-storage.js'
import { openBackupPlace } from './open-backup.js'
import type { LedgerSource, SourceOptions } from './source.js'

/**
 * Opens the backup service of a node, at `backup+http://HOST:PORT`.
 * @throws `invalid_argument`, `source_failed`, `invalid_backup`, `verification_failed`
 */
export async function openBackupService(location: string, options: SourceOptions): Promise<LedgerSource> {
  const storage = new ServiceStorage(toRemoteUrl(location.replace(/^backup\+/, '')), options)
  const above = (): never => {
    throw invalidArgument.windowOfBackupOnly(location)
  }
  return await openBackupPlace({ storage, above }, options)
}
