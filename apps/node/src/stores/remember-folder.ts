import { readdirSync, rmdirSync, rmSync } from 'node:fs'
import { join } from 'node:path'

/**
 * Remembers the content of a folder. The returned function removes everything added since, and the folder itself if it
 * did not exist. Files that the system refuses to remove stay.
 */
export function rememberFolder(path: string): () => void {
  const before = namesIn(path)
  return () => {
    try {
      for (const name of namesIn(path) ?? []) if (!before?.includes(name)) rmSync(join(path, name), { recursive: true })
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
