import { accessSync, closeSync, constants, openSync, statSync } from 'node:fs'
import type { DatabaseSync } from 'node:sqlite'

// Node has no file lock, so a lock is SQLite's exclusive lock on an empty file. The kernel releases it however the process
// ends, and it holds between containers that share the folder, whose process ids are unrelated.

/** First Node.js whose `node:sqlite` needs no flag. */
export const FIRST_NODE_WITH_LOCKS = '22.13'

/** Locks that are held: the garbage collection would close one that nobody refers to. */
const held = new Set<DatabaseSync>()

/**
 * Takes the lock that a file is, in a folder that exists. Returns a function that releases it; the file stays. The lock
 * is held until then, or until the process ends. Returns undefined if this Node.js is older than `FIRST_NODE_WITH_LOCKS`.
 * @param toError error for a lock that is held, by another process or by this one
 * @throws the error; errors of the system
 */
export function lockFile(path: string, toError: (cause: unknown) => Error): (() => void) | undefined {
  const sqlite = loadSqlite()
  if (!sqlite) return undefined
  createIfMissing(path)
  let lock: DatabaseSync | undefined
  try {
    lock = new sqlite.DatabaseSync(path, { timeout: 0 })
    // A journal on disk would need room, and SQLite does not say that there is none.
    lock.exec('PRAGMA journal_mode = MEMORY; BEGIN EXCLUSIVE')
    expectOwn(lock, path)
  } catch (cause) {
    lock?.close()
    throw /locked/.test(String(cause)) ? toError(cause) : toSystemError(cause, path)
  }
  held.add(lock)
  return () => {
    held.delete(lock)
    lock.close()
  }
}

/** An error of SQLite as one of the system, whose code SQLite does not tell. */
function toSystemError(cause: unknown, path: string): unknown {
  if (!(cause instanceof Error) || 'syscall' in cause) return cause
  return Object.assign(new Error(`${path} cannot be locked: ${cause.message}`, { cause }), { syscall: 'open', path })
}

/**
 * Checks that nobody else can have the lock. SQLite reads a file that it cannot open for writing, for lack of permission or
 * of descriptors, and then shares its lock with others that do the same. The write is never committed.
 * @throws an error of the system if the file may not be written
 */
function expectOwn(lock: DatabaseSync, path: string): void {
  try {
    lock.exec('PRAGMA user_version = 1')
  } catch (cause) {
    accessSync(path, constants.W_OK)
    throw new Error(`${path} could not be opened for writing`, { cause })
  }
}

/** Creates the file, because SQLite does not say whether it may not or the disk is full. */
function createIfMissing(file: string): void {
  // To close a file that is there would drop a lock of this process.
  if (statSync(file, { throwIfNoEntry: false })) return
  try {
    closeSync(openSync(file, 'wx'))
  } catch (error) {
    // Another process has just created it.
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error
  }
}

/**
 * Loads SQLite without the warning of Node.js 22 that it is experimental: we use nothing of SQLite but its file lock.
 */
function loadSqlite(): typeof import('node:sqlite') | undefined {
  const { emitWarning } = process
  process.emitWarning = (warning: string | Error, ...rest: unknown[]) => {
    if (!String(warning).startsWith('SQLite is an experimental'))
      Reflect.apply(emitWarning, process, [warning, ...rest])
  }
  try {
    return process.getBuiltinModule?.('node:sqlite')
  } finally {
    process.emitWarning = emitWarning
  }
}
