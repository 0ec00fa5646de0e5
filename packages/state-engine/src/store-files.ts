import { LOCK_FILE, STORE_FILE } from './lmdb/lmdb-store.js'
import { isSegmentName } from './segments/segment-names.js'
import { isWalName } from './wal/append-file.js'

/** Whether a file with this name, in the folder of a store, belongs to the store. Drafts of its files do, too. */
export function isStoreFile(name: string): boolean {
  return name === LOCK_FILE || name.startsWith(STORE_FILE) || isWalName(name) || isSegmentName(name)
}
