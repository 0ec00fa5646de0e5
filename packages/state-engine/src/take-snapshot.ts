import { existsSync, mkdirSync, renameSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { LedgerStateError } from '@ledger-state/core'
import { type LmdbStore, STORE_FILE, withStoreErrors } from './lmdb-store.js'

/** Copies the store into a folder; the copy gets its name when it is whole. */
export async function takeSnapshot({ root }: LmdbStore, path: string, compact: boolean): Promise<void> {
  if (existsSync(join(path, STORE_FILE))) {
    throw new LedgerStateError('store_not_empty', `${path} holds a store already`)
  }
  withStoreErrors(() => mkdirSync(path, { recursive: true }))
  const unfinished = join(path, `${STORE_FILE}.part`)
  rmSync(unfinished, { force: true, recursive: true })
  try {
    await root.backup(unfinished, compact)
    withStoreErrors(() => renameSync(unfinished, join(path, STORE_FILE)))
  } catch (error) {
    rmSync(unfinished, { force: true, recursive: true })
    withStoreErrors(() => {
      throw error
    })
  }
}
