import { existsSync, mkdirSync, renameSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { LedgerStateError } from '@ledger-state/core'
import { type LmdbStore, STORE_FILE, withStoreErrors } from '../lmdb/lmdb-store.js'

/** Copies the store into a folder; the copy gets its name when it is whole. */
export async function takeSnapshot({ root }: LmdbStore, path: string, compact: boolean): Promise<void> {
  if (existsSync(join(path, STORE_FILE))) {
    throw new LedgerStateError('store_not_empty', `${path} holds a store already`)
  }
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
    // Only now: the space that it takes up tells why it failed.
    rmSync(unfinished, { force: true, recursive: true })
    throw error
  }
}
