import { Buffer } from 'node:buffer'
import { randomUUID } from 'node:crypto'
import {
  accessSync,
  closeSync,
  constants,
  linkSync,
  lstatSync,
  openSync,
  readFileSync,
  realpathSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { dirname } from 'node:path'
import { storeFailed } from '@ledger-state/engine/authoring'
import { storeFull } from '../errors.js'
import { freeBytes } from './free-bytes.js'

// If LMDB cannot open a file, lmdb 3.5.6 uses memory that it has freed (`EnvWrap::openEnv`), and a signal ends the
// process. Therefore the resources that LMDB needs are checked first.

/** File descriptors that LMDB opens, and one for the check of pages. */
const DESCRIPTORS = 4
/** Address space in addition to the map: tables of LMDB, and the needs of the process in the meantime. */
const SPARE_BYTES = 2 ** 26
/** Length of LMDB's lock file: two mutexes, and a slot of 64 bytes for each of 126 readers and for the header. */
const LOCK_FILE_LENGTH = 8_272
const BLOCK = 512

/**
 * Checks that LMDB has the descriptors, the address space and the lock file that it needs to open a file.
 * @throws `store_failed`, `store_full`; errors of the system
 */
export function expectResources(file: string, mapBytes: number): void {
  expectDescriptors(file)
  expectAddressSpace(file, mapBytes)
  expectLockFile(file)
}

function expectDescriptors(file: string): void {
  const opened: number[] = []
  try {
    while (opened.length < DESCRIPTORS) opened.push(openSync(file, 'r'))
  } catch (cause) {
    const { code, message } = cause as NodeJS.ErrnoException
    if (code !== 'EMFILE' && code !== 'ENFILE') throw cause
    throw storeFailed(`${file} cannot be opened: ${message}; allow more open files (ulimit -n)`, cause)
  } finally {
    for (const descriptor of opened) closeSync(descriptor)
  }
}

function expectAddressSpace(file: string, mapBytes: number): void {
  const left = addressSpaceLeft()
  if (left >= mapBytes + SPARE_BYTES || isMapped(file)) return
  const wanted = `${mapBytes} bytes of address space`
  throw storeFailed(
    `${file} cannot be opened: it needs ${wanted}, but ${left} are left (ulimit -v); choose a smaller mapBytes`,
    undefined,
  )
}

/** Address space that this process may still take. Infinity if that is not limited, or not known. */
function addressSpaceLeft(): number {
  try {
    const limit = /^Max address space +(\d+)/m.exec(readFileSync('/proc/self/limits', 'latin1'))?.[1]
    const used = /^VmSize:\s+(\d+) kB/m.exec(readFileSync('/proc/self/status', 'latin1'))?.[1]
    if (limit !== undefined && used !== undefined) return Number(limit) - Number(used) * 1_024
  } catch {
    // Other systems tell it in other ways.
  }
  return Number.POSITIVE_INFINITY
}

/** Whether this process has the file open already: all openers in it share one map. */
function isMapped(file: string): boolean {
  return readFileSync('/proc/self/maps', 'utf8').includes(realpathSync(file))
}

/**
 * Makes sure that LMDB's lock file has its space on disk: LMDB maps it, and a signal ends the process that writes to a page
 * for which a full disk has no room.
 */
function expectLockFile(file: string): void {
  const path = `${file}-lock`
  const found = statSync(path, { throwIfNoEntry: false })
  if (!found) createLockFile(file, path)
  else if (found.blocks * BLOCK < LOCK_FILE_LENGTH && freeBytes(path) < LOCK_FILE_LENGTH)
    throw storeFull(path, undefined)
}

/**
 * Whether LMDB can open its lock file for writing. It is not opened here: to close it would drop the locks that this process
 * has on it. @throws `store_failed` if something else than a file has its name
 */
export function mayWriteLockFile(file: string): boolean {
  const path = `${file}-lock`
  const found = statSync(path, { throwIfNoEntry: false })
  const isOther = found ? !found.isFile() : lstatSync(path, { throwIfNoEntry: false }) !== undefined
  if (isOther) throw storeFailed(`${path} is not a file`, undefined)
  try {
    accessSync(found ? path : dirname(path), constants.R_OK | constants.W_OK)
    return true
  } catch {
    return false
  }
}

/** Creates the file whole: other openers find none, or one that has its space. LMDB's first opener fills it. */
function createLockFile(file: string, path: string): void {
  const draft = `${file}.${randomUUID()}-lock`
  try {
    writeFileSync(draft, Buffer.alloc(LOCK_FILE_LENGTH), { mode: 0o664 })
    linkSync(draft, path)
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    if (code === 'ENOSPC' || code === 'EDQUOT') throw storeFull(path, error)
    // Another opener was faster, or LMDB reads a folder that this process cannot write to, or has no hard links.
  } finally {
    rmSync(draft, { force: true })
  }
}
