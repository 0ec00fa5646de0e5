import { readdirSync, rmdirSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { isStoreFile } from '@ledger-state/state-engine'

/**
 * Remembers the content of the folder of a store. The returned function removes everything that an ingest has added
 * since, and the folder itself if it did not exist and is empty. Files of others in the folder stay, and those that the
 * system refuses to remove.
 * @param own name in the folder that an ingest uses, besides the files of the store
 */
export function rememberFolder(path: string, own: string): () => void {
  const before = namesIn(path)
  return () => {
    const isOwn = (name: string): boolean => name === own || isStoreFile(name)
    const added = namesIn(path)?.filter((name) => isOwn(name) && !before?.includes(name)) ?? []
    try {
      for (const name of added) rmSync(join(path, name), { recursive: true })
      if (!before) rmdirSync(path)
    } catch {
      // An empty store does no harm: the next ingest begins in it.
    }
  }
}

/** Names in a folder; undefined if there is no such folder. */
function namesIn(path: string): readonly string[] | undefined {
  try {
    return readdirSync(path)
  } catch {
    return undefined
  }
}
