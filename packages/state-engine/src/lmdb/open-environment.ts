import { accessSync, constants } from 'node:fs'
import { openAsClass, type RootDatabase, type RootDatabaseOptionsWithPath } from 'lmdb'
import { type ReadMethods, reportDamage } from './damage-errors.js'

/** Address space, not memory or disk: so large that no process has to map the file again as it grows. */
const DEFAULT_MAP_BYTES = 2 ** 40
const PAGE_SIZE = 4_096

export interface EnvironmentOptions {
  readonly readOnly: boolean
  readonly readAhead: boolean
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
  new (name: null, options: object): RootDatabase<Buffer, Uint8Array>
  readonly prototype: LmdbDatabase & ReadMethods
}

/**
 * Opens a data file. All openers in a process, also those in its worker threads, share one environment of LMDB, which
 * has the flags of the first. A read-only environment would shut out a writer that comes later. So a reader, too, opens
 * the file for writing where it may, and merely begins no write transaction; and what a commit waits for is not a flag of
 * the environment, but of each transaction.
 */
export function openEnvironment(file: string, { readOnly, readAhead, mapBytes }: EnvironmentOptions) {
  const options: RootDatabaseOptionsWithPath & { readonly noReadAhead: boolean } = {
    path: file,
    readOnly: readOnly && !isWritable(file),
    noSubdir: true,
    maxDbs: 8,
    mapSize: mapBytes ?? DEFAULT_MAP_BYTES,
    encoding: 'binary',
    keyEncoding: 'binary',
    pageSize: PAGE_SIZE,
    overlappingSync: false,
    noReadAhead: !readAhead,
  }
  // A separate class for each call.
  const DatabaseClass = openAsClass(options) as unknown as LmdbDatabaseClass
  if (readOnly) DatabaseClass.prototype.transactionSync = inReadTransaction
  reportDamage(DatabaseClass.prototype)
  try {
    return new DatabaseClass(null, { ...options, isRoot: true, create: !readOnly })
  } catch (error) {
    // An environment that is left open is handed to the next opener of the process, as it is.
    Reflect.apply(DatabaseClass.prototype.close, { isRoot: true }, [])
    throw error
  }
}

/** lmdb-js opens named databases in a write transaction unless the environment is read-only. A read transaction will do. */
function inReadTransaction<T>(this: LmdbDatabase, work: () => T): T {
  this.resetReadTxn()
  this.ensureReadTxn()
  return work()
}

function isWritable(file: string): boolean {
  try {
    accessSync(file, constants.W_OK)
    return true
  } catch {
    return false
  }
}
