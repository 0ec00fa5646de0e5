import { existsSync, mkdirSync, renameSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { type LmdbStore, STORE_FILE, withStoreErrors } from '../lmdb/lmdb-store.js'
import { folderHasStore } from '../port/errors.js'

/** Copies the store into a folder. The copy gets its name once it is complete. */
export async function takeSnapshot({ root }: LmdbStore, path: string, compact: boolean): Promise<void> {
  if (existsSync(join(path, STORE_FILE))) throw folderHasStore(path)
  withStoreErrors(path, () => mkdirSync(path, { recursive: true }))
  const unfinished = join(path, `${STORE_FILE}.part`)
  rmSync(unfinished, { force: true, recursive: true })
  const failure = await root.backup(unfinished, compact).then(
    () => undefined,
    (error: unknown) => ({ error }),
  )
  try {
    withStoreErrors(path, () => {
      if (failure) throw failure.error
      renameSync(unfinished, join(path, STORE_FILE))
    })
  } catch (error) {
    // Not earlier: free space tells whether the disk was full.
    rmSync(unfinished, { force: true, recursive: true })
    throw error
  }
}
