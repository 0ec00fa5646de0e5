import { invalidArgument } from '../errors.js'
import { recognizeBackup, STATE_MANIFEST, TRANSACTION_MANIFEST } from '../files/backup-directory.js'
import type { BackupStorage } from '../files/backup-storage.js'
import { KeepingStorage } from '../kept/keeping-storage.js'
import type { LedgerSource, SourceOptions } from './source.js'
import { openStateSnapshot } from './state-snapshot.js'
import { openBackup, openTransactionFolder } from './transaction-backup.js'
import { openWindow } from './window-source.js'

/** A place that may hold a backup, or one folder of a backup. */
export interface BackupPlace {
  readonly storage: BackupStorage
  /**
   * The folder above the place, and the name of the place in it. Names of the backup's objects are relative to the
   * folder.
   */
  above(): { readonly storage: BackupStorage; readonly name: string }
}

/**
 * Opens the backup, or the folder of one, at a place. Closes the storage that it does not need.
 * @throws as `openSource`
 */
export async function openBackupPlace(place: BackupPlace, options: SourceOptions): Promise<LedgerSource> {
  const keeping = (found: BackupStorage): BackupStorage =>
    options.keepFolder === undefined ? found : new KeepingStorage(found, options.keepFolder)
  const storage = keeping(place.storage)
  const kind = await closingOnFailure(storage, async () => {
    const found = await recognizeBackup(storage)
    if (!found) throw invalidArgument.unknownFolder(storage.root, [TRANSACTION_MANIFEST, STATE_MANIFEST])
    return found
  })
  const { window } = options
  if (kind === 'backup') {
    const open = () => (window ? openWindow(storage, window, options) : openBackup(storage, options))
    return await closingOnFailure(storage, open)
  }
  await storage.close()
  if (window) throw invalidArgument.windowOfBackupOnly(storage.root)
  const { storage: outer, name } = place.above()
  const above = keeping(outer)
  const open = kind === 'state' ? openStateSnapshot : openTransactionFolder
  return await closingOnFailure(above, () => open(above, name, options))
}

async function closingOnFailure<T>(storage: BackupStorage, work: () => Promise<T>): Promise<T> {
  try {
    return await work()
  } catch (error) {
    await storage.close()
    throw error
  }
}
