import { readdirSync, rmdirSync, rmSync } from 'node:fs'
import { join } from 'node:path'

/**
 * Remembers what a folder holds. The returned function removes what was added since, and the folder itself if it was
 * not there. What the system refuses to remove stays.
 */
export function rememberFolder(path: string): () => void {
  const before = namesIn(path)
  return () => {
    try {
      for (const name of namesIn(path) ?? []) if (!before?.includes(name)) rmSync(join(path, name), { recursive: true })
      if (!before) rmdirSync(path)
    } catch {
      // An empty store is in nobody's way: the next ingest begins in it.
    }
  }
}

/** Undefined where there is no such folder. */
function namesIn(path: string): readonly string[] | undefined {
  try {
    return readdirSync(path)
  } catch {
    return undefined
  }
}
