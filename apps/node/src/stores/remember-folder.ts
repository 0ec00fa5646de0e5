import { readdirSync, rmdirSync, rmSync } from 'node:fs'
import { join } from 'node:path'

/** Names that an ingest gives to files and folders. Others in the same folder may belong to anyone. */
const OWN_NAME = /^(?:state\.mdb|writer\.lock|write-ahead-|segment-|sources$|ingest-under-way$)/

/**
 * Remembers the content of the folder of a store. The returned function removes everything that an ingest has added
 * since, and the folder itself if it did not exist and is empty. Files that the system refuses to remove stay.
 */
export function rememberFolder(path: string): () => void {
  const before = namesIn(path)
  return () => {
    const added = namesIn(path)?.filter((name) => OWN_NAME.test(name) && !before?.includes(name)) ?? []
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
