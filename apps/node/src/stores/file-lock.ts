import { closeSync, existsSync, openSync } from 'node:fs'

/**
 * Takes the lock that a file is, in a folder that exists. Returns a function that releases it. The lock is SQLite's
 * exclusive lock on an empty file, because Node has no file lock. The kernel releases it however the process ends; the
 * file stays.
 * @param toError error for a lock that is held, by another process or by this one
 */
export function lockFile(path: string, toError: (cause: unknown) => Error): () => void {
  // SQLite does not say why it cannot make a file. A file that exists may be locked by this process, which would lose
  // the lock by closing the file.
  if (!existsSync(path)) closeSync(openSync(path, 'a'))
  const { DatabaseSync } = process.getBuiltinModule('node:sqlite')
  const lock = new DatabaseSync(path, { timeout: 0 })
  try {
    // A journal on disk would need room, and SQLite does not say that there is none.
    lock.exec('PRAGMA journal_mode = MEMORY; BEGIN EXCLUSIVE')
  } catch (cause) {
    lock.close()
    throw /locked/.test(String(cause)) ? toError(cause) : cause
  }
  return () => lock.close()
}
