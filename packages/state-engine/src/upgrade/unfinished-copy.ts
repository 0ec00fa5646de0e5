import { closeSync, existsSync, fsyncSync, mkdirSync, openSync, readdirSync, renameSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { STORE_FILE } from '../lmdb/lmdb-store.js'
import { folderHasStore } from '../port/errors.js'

/** A copy is made in this folder of its own folder, so that no program takes it for a whole store. */
const UNFINISHED = 'upgrading'
/** The other files of a store that have data. */
const WRITE_AHEAD_FILE = /^write-ahead-\d+$/

/** The folder to make the copy in; undefined where all of it is done. @throws `store_not_empty` */
export function prepareUnfinished(folder: string): string | undefined {
  const unfinished = join(folder, UNFINISHED)
  if (existsSync(join(folder, STORE_FILE))) {
    if (!existsSync(unfinished)) throw folderHasStore(folder)
    // The upgrade was cut short just before its end.
    rmSync(unfinished, { recursive: true })
    return undefined
  }
  if (writeAheadFiles(folder).length > 0) {
    moveUp(folder)
    return undefined
  }
  mkdirSync(unfinished, { recursive: true })
  return unfinished
}

/** Makes the copy, which is closed, the store of the folder: `state.mdb` comes last. */
export function moveUp(folder: string): void {
  const unfinished = join(folder, UNFINISHED)
  for (const name of [...writeAheadFiles(unfinished), STORE_FILE]) {
    renameSync(join(unfinished, name), join(folder, name))
    syncFolder(folder)
  }
  rmSync(unfinished, { recursive: true })
}

function writeAheadFiles(folder: string): string[] {
  return readdirSync(folder).filter((name) => WRITE_AHEAD_FILE.test(name))
}

/** Makes the names in it durable. */
function syncFolder(folder: string): void {
  const descriptor = openSync(folder, 'r')
  try {
    fsyncSync(descriptor)
  } finally {
    closeSync(descriptor)
  }
}
