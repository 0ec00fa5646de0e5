import {
  closeSync,
  type Dirent,
  fsyncSync,
  lstatSync,
  mkdirSync,
  openSync,
  readdirSync,
  readlinkSync,
  realpathSync,
  renameSync,
  rmSync,
  statSync,
} from 'node:fs'
import { open, readdir, rename, stat, writeFile } from 'node:fs/promises'
import { dirname, join, resolve } from 'node:path'

export { FIRST_NODE_WITH_LOCKS, lockFile } from './file-lock.js'
export { makeTemporaryFolder, removeAbandonedFolders, type TemporaryFolder } from './temporary-folder.js'
export { whyUnreadable } from './why-unreadable.js'

// Files that survive a loss of power, on Node.js. All renames of the project go through this module.

/** Windows syncs only files that are open for writing, and no folders. */
const SYNCS_FOLDERS = process.platform !== 'win32'
const SYNCED_AS = SYNCS_FOLDERS ? 'r' : 'r+'
/** Links that are followed, as on Linux. */
const MOST_LINKS = 40
const NO_PATH = /^\w+:\[/

/**
 * Whether there is a file or folder. Unlike `existsSync`, which says that there is none if the disk fails, it throws
 * errors of the system: nothing may be created instead of a file that cannot be read at the moment.
 */
export function isPresent(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false }) !== undefined
}

/**
 * The path that links lead to, whether something is there or not: the path as it is given if it is no link. Links of the
 * kernel that lead to no path, such as `pipe:[4026]`, are not followed, nor those that `isEnd` names.
 * @throws errors of the system, as for links that lead in a circle
 */
export function followLinks(path: string, isEnd: (place: string) => boolean = () => false): string {
  let place = path.replace(/(?<=.)\/+$/, '')
  for (let links = 0; links < MOST_LINKS; links++) {
    if (isEnd(place) || !lstatSync(place, { throwIfNoEntry: false })?.isSymbolicLink()) return place
    const target = readlinkSync(place)
    if (NO_PATH.test(target)) return place
    place = resolve(realpathSync(dirname(place)), target)
  }
  // The system's own error for links that lead in a circle.
  return realpathSync(place)
}

/** Whether a call of the operating system failed. */
export function isSystemError(cause: unknown): cause is Error & { readonly code?: string | undefined } {
  return cause instanceof Error && 'syscall' in cause
}

/** Removes a file or folder, unless that fails: where an earlier error tells more, or where a later step removes it. */
export function removeIfPossible(path: string): void {
  try {
    rmSync(path, { recursive: true, force: true })
  } catch {
    // See above.
  }
}

/** Makes the content of a file durable. */
export function syncFileNow(path: string): void {
  const descriptor = openSync(path, SYNCED_AS)
  try {
    fsyncSync(descriptor)
  } finally {
    closeSync(descriptor)
  }
}

/** Makes the content of a file durable, off the event loop. */
export async function syncFile(path: string): Promise<void> {
  const handle = await open(path, SYNCED_AS)
  try {
    await handle.sync()
  } finally {
    await handle.close()
  }
}

/** Makes the names of the files in a folder durable. */
export function syncFolderNow(folder: string): void {
  if (SYNCS_FOLDERS) syncFileNow(folder)
}

/** Makes the names of the files in a folder durable, off the event loop. */
export async function syncFolder(folder: string): Promise<void> {
  if (SYNCS_FOLDERS) await syncFile(folder)
}

/**
 * Creates a folder, and those above it that are missing, and makes their names durable. `mkdir` of Node with
 * `recursive` says ENOENT for a folder on a read-only disk, and never ends below /proc.
 * @param mode permissions of new folders, less the umask
 */
export function makeFolderNow(path: string, mode = 0o777): void {
  const missing: string[] = []
  for (let folder = resolve(path); !isFolder(folder); folder = dirname(folder)) missing.unshift(folder)
  for (const folder of missing) {
    makeOneFolder(folder, mode)
    syncIfReadable(dirname(folder))
  }
}

/** @throws ENOTDIR if it is something else than a folder, and other errors of the system */
function isFolder(path: string): boolean {
  const found = statSync(path, { throwIfNoEntry: false })
  if (found && !found.isDirectory()) {
    const cause = { code: 'ENOTDIR', syscall: 'mkdir', path }
    throw Object.assign(new Error(`ENOTDIR: not a directory, mkdir '${path}'`), cause)
  }
  return found !== undefined
}

function makeOneFolder(path: string, mode: number): void {
  try {
    mkdirSync(path, { mode })
  } catch (error) {
    // Another process has just made it.
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error
  }
}

/** Syncs a folder unless this user may create files in it, but not list them. */
function syncIfReadable(folder: string): void {
  try {
    syncFolderNow(folder)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EACCES') throw error
  }
}

/**
 * Gives a complete file, or a folder of complete files, its name. A loss of power then leaves the old name or the new
 * one with the whole content. If the sync of a file fails, its content on disk is unknown, and a second sync would not
 * report it, so that file is deleted. After any other failure a draft stays, for whoever continues it. If the new name may
 * not be on disk, a folder gets its old name back and a new file is deleted; a file that replaced another one stays.
 */
export function moveDurablyNow(draft: string, path: string): void {
  syncTreeNow(draft)
  const isNew = !isPresent(path)
  renameSync(draft, path)
  try {
    for (const folder of parentsOf(draft, path)) syncFolderNow(folder)
  } catch (error) {
    if (isNew) undoMove(draft, path)
    throw error
  }
}

/** Same as `moveDurablyNow`, off the event loop. */
export async function moveDurably(draft: string, path: string): Promise<void> {
  await syncTree(draft)
  const isNew = !isPresent(path)
  await rename(draft, path)
  try {
    for (const folder of parentsOf(draft, path)) await syncFolder(folder)
  } catch (error) {
    if (isNew) undoMove(draft, path)
    throw error
  }
}

/** A folder may have files of days of work; a file is made again. */
function undoMove(draft: string, path: string): void {
  try {
    if (statSync(path).isDirectory()) renameSync(path, draft)
    else rmSync(path)
  } catch {
    // The error of the sync tells more.
  }
}

/** Writes a draft next to the file and renames it, so that the file always has its old content or its new one. */
export async function writeDurably(path: string, content: string | Uint8Array): Promise<void> {
  const draft = `${path}.part`
  await writeFile(draft, content)
  await moveDurably(draft, path)
}

function syncTreeNow(path: string): void {
  if (!statSync(path).isDirectory()) {
    syncOrRemoveNow(path)
    return
  }
  for (const entry of readdirSync(path, { withFileTypes: true }))
    if (isSynced(entry)) syncTreeNow(join(path, entry.name))
  syncFolderNow(path)
}

async function syncTree(path: string): Promise<void> {
  if (!(await stat(path)).isDirectory()) {
    await syncOrRemove(path)
    return
  }
  for (const entry of await readdir(path, { withFileTypes: true })) {
    if (isSynced(entry)) await syncTree(join(path, entry.name))
  }
  await syncFolder(path)
}

/** Makes the content of a file durable, or removes the file if that fails. A file that cannot be opened stays. */
function syncOrRemoveNow(path: string): void {
  const descriptor = openSync(path, SYNCED_AS)
  try {
    fsyncSync(descriptor)
  } catch (error) {
    removeIfPossible(path)
    throw error
  } finally {
    closeSync(descriptor)
  }
}

/** Same as `syncOrRemoveNow`, off the event loop. */
async function syncOrRemove(path: string): Promise<void> {
  const handle = await open(path, SYNCED_AS)
  try {
    await handle.sync()
  } catch (error) {
    removeIfPossible(path)
    throw error
  } finally {
    await handle.close()
  }
}

/** Whether an entry of a folder has content of its own: opening a pipe would wait for ever. */
function isSynced(entry: Dirent): boolean {
  return entry.isFile() || entry.isDirectory()
}

/** Folders that a move changes, the target first. */
function parentsOf(draft: string, path: string): ReadonlySet<string> {
  return new Set([dirname(resolve(path)), dirname(resolve(draft))])
}
