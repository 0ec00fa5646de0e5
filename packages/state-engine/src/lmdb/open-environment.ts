import { accessSync, constants } from 'node:fs'
import { dirname } from 'node:path'
import { openAsClass, type RootDatabaseOptionsWithPath } from 'lmdb'
import { storeFailedErrors, storeReadOnly } from '../errors.js'
import { type ReadMethods, reportReadErrors } from './damage-errors.js'
import { PAGE_SIZE } from './empty-file.js'
import { expectResources, mayWriteLockFile } from './expect-resources.js'
import type { LmdbEnvironment } from './table.js'

/** Address space for the map, not memory or disk: so large that no process has to map the file again as it grows. */
export const DEFAULT_MAP_BYTES = 2 ** 40

export interface EnvironmentOptions {
  readonly readOnly: boolean
  /** Whether no process ever writes to the file again. */
  readonly isFinal?: boolean
  readonly mapBytes?: number | undefined
}

/** Members of databases of lmdb-js that its types leave out. */
interface LmdbDatabase {
  resetReadTxn(): void
  ensureReadTxn(): void
  transactionSync<T>(work: () => T): T
  close(): Promise<void>
}

interface LmdbDatabaseClass {
  new (name: null, options: object): LmdbEnvironment
  readonly prototype: LmdbDatabase & ReadMethods
}

/** Code of LMDB's errors if a mutex of its lock file was destroyed. */
const EINVAL = 22
/** Most attempts. The waits between them take half a second on average. */
const MAX_ATTEMPTS = 20
const MAX_WAIT_MS = 64

/**
 * Opens a data file. All openers in a process, including its worker threads, share one environment of LMDB, which has
 * the flags of the first. A read-only environment would shut out a writer of the process that comes later. So a reader,
 * too, opens the file for writing if it may, and merely begins no write transaction. For the same reason, the
 * durability of a commit is not a flag of the environment, but of each transaction.
 *
 * The last process that closes a file destroys the mutexes of its lock file. A process that opens the file at this
 * moment finds them destroyed (LMDB's ITS#10095, which lmdb-js has not fixed). It closes the file and opens it again,
 * because a process makes new ones if no other one has the file open. Two processes that do so in step would destroy them for
 * each other, so the waits are random.
 */
export function openEnvironment(file: string, options: EnvironmentOptions): LmdbEnvironment {
  expectResources(file, options.mapBytes ?? DEFAULT_MAP_BYTES)
  // LMDB needs its lock file unless it reads only.
  const isWritable = !options.isFinal && mayWriteLockFile(file) && mayWrite(file)
  if (!options.readOnly && !isWritable)
    throw storeReadOnly.storeNotWritable(dirname(file), `Permission denied: ${file}, or its lock file`, undefined)
  for (let attempt = 1; ; attempt++) {
    try {
      return openOnce(file, options, isWritable)
    } catch (error) {
      if ((error as { code?: unknown }).code !== EINVAL || attempt === MAX_ATTEMPTS) throw error
      waitSync(Math.random() * Math.min(2 ** attempt, MAX_WAIT_MS))
    }
  }
}

function waitSync(milliseconds: number): void {
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, milliseconds)
}

function openOnce(file: string, { readOnly, mapBytes }: EnvironmentOptions, isWritable: boolean): LmdbEnvironment {
  const options: RootDatabaseOptionsWithPath & { readonly noReadAhead: boolean } = {
    path: file,
    readOnly: !isWritable,
    noSubdir: true,
    maxDbs: 8,
    mapSize: mapBytes ?? DEFAULT_MAP_BYTES,
    encoding: 'binary',
    keyEncoding: 'binary',
    pageSize: PAGE_SIZE,
    overlappingSync: false,
    noReadAhead: true,
  }
  // Each call has a separate class.
  const DatabaseClass = openAsClass(options) as unknown as LmdbDatabaseClass
  const { prototype } = DatabaseClass
  const { transactionSync } = prototype
  reportReadErrors(prototype)
  // The root database needs no write transaction. lmdb-js reports only a read transaction that cannot begin.
  prototype.transactionSync = inReadTransaction
  try {
    const root = new DatabaseClass(null, { ...options, isRoot: true, create: !readOnly })
    if (!readOnly) prototype.transactionSync = transactionSync
    return root
  } catch (error) {
    // An environment that is left open would be handed to the next opener of the process as it is.
    Reflect.apply(prototype.close, { isRoot: true }, [])
    throw error
  }
}

/**
 * Runs work in a read transaction. lmdb-js opens databases in a write transaction unless the environment is read-only;
 * those that exist need only a read transaction.
 */
function inReadTransaction<T>(this: LmdbDatabase, work: () => T): T {
  this.resetReadTxn()
  expectOwnProcessNumber(() => this.ensureReadTxn())
  return work()
}

/**
 * LMDB tells readers apart by their process numbers, and locks the byte of that offset in its lock file. Processes in
 * two containers can have one number; the second gets EAGAIN for as long as the first runs. lmdb-js then waits a
 * hundred times, 10 s in all, stops the event loop during that time, and continues without a transaction. It waits with
 * `Atomics.wait`, and has no other reason to wait there.
 * @throws `store_failed`
 */
function expectOwnProcessNumber(beginReading: () => void): void {
  const { wait } = Atomics
  Atomics.wait = () => {
    throw storeFailedErrors.processNumberTaken(process.pid)
  }
  try {
    beginReading()
  } finally {
    Atomics.wait = wait
  }
}

function mayWrite(file: string): boolean {
  try {
    accessSync(file, constants.W_OK)
    return true
  } catch {
    return false
  }
}
