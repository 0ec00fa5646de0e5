import { makeFolderNow } from '@ledger-state/core/files'
import { usage } from '../errors.js'

/** Makes a folder that the user named, unless it exists. @throws `usage` */
export function makeDataFolder(path: string, mode?: number): void {
  try {
    makeFolderNow(path, mode)
  } catch (error) {
    throw usage.cannotMakeFolder(path, error as NodeJS.ErrnoException)
  }
}
