import { existsSync, mkdirSync, renameSync, rmSync } from 'node:fs'
import { basename, dirname, join, resolve } from 'node:path'
import { syncFolder } from '../bytes/sync-folder.js'
import { STORE_FILE } from '../lmdb/lmdb-store.js'
import { folderHasStore } from '../port/errors.js'
import type { AtFailurePoint } from '../write/failure-points.js'
import { listWriteAheadFiles, writeAheadPath } from '../write-ahead/files.js'

/** A copy is made in this folder of its own folder, so that no program takes it for a whole store. */
const UNFINISHED = 'upgrading'

/** The folder to make the copy in; undefined where all of it is done. @throws `store_not_empty` */
export function prepareUnfinished(folder: string, atFailurePoint: AtFailurePoint): string | undefined {
  const unfinished = join(folder, UNFINISHED)
  if (existsSync(join(folder, STORE_FILE))) {
    if (!existsSync(unfinished)) throw folderHasStore(folder)
    // The upgrade was cut short just before its end.
    rmSync(unfinished, { recursive: true })
    return undefined
  }
  if (listWriteAheadFiles(folder).length > 0) {
    // The upgrade was cut short while it moved the files.
    if (!existsSync(join(unfinished, STORE_FILE))) throw folderHasStore(folder)
    moveUp(folder, atFailurePoint)
    return undefined
  }
  mkdirSync(unfinished, { recursive: true })
  return unfinished
}

/** Makes the copy, which is closed, the store of the folder: `state.mdb` comes last. */
export function moveUp(folder: string, atFailurePoint: AtFailurePoint): void {
  const unfinished = join(folder, UNFINISHED)
  for (const number of listWriteAheadFiles(unfinished)) move(writeAheadPath(unfinished, number), folder, atFailurePoint)
  syncFolder(dirname(resolve(folder)))
  move(join(unfinished, STORE_FILE), folder, atFailurePoint)
  atFailurePoint('upgrade: all moved')
  rmSync(unfinished, { recursive: true })
}

function move(file: string, folder: string, atFailurePoint: AtFailurePoint): void {
  renameSync(file, join(folder, basename(file)))
  syncFolder(folder)
  atFailurePoint('upgrade: file moved')
}
