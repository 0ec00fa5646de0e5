import { accessSync, closeSync, constants, existsSync, openSync, readSync, statfsSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { LedgerStateError } from '@ledger-state/core'
import { open, type RootDatabase, type RootDatabaseOptionsWithPath } from 'lmdb'
import { NUMBERED_KEY_ENCODER, type NumberedKey } from '../bytes/numbered-key.js'
import { STORED_KEY_ENCODER } from '../bytes/stored-key.js'
import { isSmallBesideMemory } from './read-ahead.js'
import type { Environment, Table } from './table.js'

/** Raised when the layout of records changes; a store of another version is refused. */
const LAYOUT_VERSION = 3

export const STORE_FILE = 'state.mdb'
export const LOCK_FILE = 'writer.lock'

/** Address space to begin with, not memory or disk: large, so that no process has to map the file anew as it grows. */
const MAP_SIZE_BYTES = 2 ** 40
const PAGE_SIZE = 4_096

export type Records = Table<NumberedKey>

interface KeyEncoder<K> {
  writeKey(key: K, target: Uint8Array, position: number): number
  readKey(source: Uint8Array, start: number, end: number): K
}

export interface LmdbStore {
  /** Its folder. */
  readonly path: string
  /** Whether records are held against their checksums whenever they are read. */
  readonly verifyReads: boolean
  readonly root: Environment
  readonly meta: Table<Uint8Array>
  /** The newest write of each key, under the user's keys: `latest-record.ts`. */
  readonly latest: Table<Uint8Array>
  /** The same under the stored forms of keys. */
  readonly latestByStoredKey: Table<Uint8Array>
  /** Older values by the version that superseded them: `superseded-log.ts`. */
  readonly log: Records
  /** What else can go once a version is the oldest: `superseded-log.ts`. */
  readonly retired: Records
  /** Versions of the writes of keys with deep histories: `version-index.ts`. */
  readonly index: Records
  /** Long values and keys, in pieces: `large-values.ts`. */
  readonly large: Records
  /** Blocks by their first versions: `ledger-record.ts`. */
  readonly blocks: Records
  /** @throws `store_missing` unless the file is still the one that was opened */
  expectInPlace(): void
}

const LAYOUT_KEY = Buffer.from('layout')
export const LEDGER_KEY = Buffer.from('ledger')

/**
 * What a commit waits for, and so what a loss of power can undo. The end of a process, in whatever way, undoes nothing.
 * - `full`: the commit is on disk. Nothing that was acknowledged is lost.
 * - `ordered`: its data is on disk, the pointer to it may not be. The newest commits may be lost, whole; the store is
 *   sound.
 * - `none`: nothing. After a loss of power the store may be damaged beyond use: for what can be made anew, such as a
 *   first ingest.
 */
export type Durability = 'full' | 'ordered' | 'none'

export interface LmdbStoreOptions {
  readonly path: string
  readonly readOnly: boolean
  readonly durability?: Durability | undefined
  readonly verifyReads?: boolean | undefined
  readonly readAhead?: boolean | undefined
}

/** @throws `store_missing`; `store_failed` where this process may not read it */
export function expectStore(path: string): void {
  try {
    accessSync(join(path, STORE_FILE), constants.R_OK)
  } catch (cause) {
    const { code, message } = cause as NodeJS.ErrnoException
    if (code === 'ENOENT' || code === 'ENOTDIR') {
      throw new LedgerStateError('store_missing', `there is no ledger store in ${path}`)
    }
    throw new LedgerStateError('store_failed', `${path} cannot be read by this process: ${message}`, {}, { cause })
  }
}

/** @throws `store_missing`, `store_format`, `store_failed` */
export function openLmdbStore({
  path,
  readOnly,
  durability = 'full',
  verifyReads = false,
  readAhead,
}: LmdbStoreOptions): LmdbStore {
  const file = join(path, STORE_FILE)
  if (readOnly) expectStore(path)
  return withStoreErrors(path, () => {
    expectStoreFile(file)
    const options: RootDatabaseOptionsWithPath & { readonly noReadAhead: boolean } = {
      path: file,
      readOnly,
      noSubdir: true,
      maxDbs: 8,
      mapSize: MAP_SIZE_BYTES,
      encoding: 'binary',
      keyEncoding: 'binary',
      pageSize: PAGE_SIZE,
      overlappingSync: false,
      // A writer has its store open from empty to any size.
      noReadAhead: !(readAhead ?? (readOnly && isSmallBesideMemory(file))),
      noSync: durability === 'none',
      noMetaSync: durability === 'ordered',
    }
    const root = open<Buffer, Uint8Array>(options)
    try {
      return { ...openTables(root, file, readOnly), path, verifyReads, expectInPlace: createPlaceCheck(file) }
    } catch (error) {
      // What stays open is handed out again, as it is, when the file is opened the next time.
      void root.close()
      throw error
    }
  })
}

/** Another file in its place has another inode: this one is held open, so that its number is not given out again. */
function createPlaceCheck(file: string): () => void {
  const opened = statSync(file)
  return () => {
    const found = statSync(file, { throwIfNoEntry: false })
    if (found?.ino === opened.ino && found.dev === opened.dev) return
    const fate = found ? 'replaced' : 'removed'
    const message = `${file} was ${fate} while it was open; what is written now would be lost`
    throw new LedgerStateError('store_missing', message, { fate })
  }
}

function openTables(
  root: RootDatabase<Buffer, Uint8Array>,
  file: string,
  readOnly: boolean,
): Omit<LmdbStore, 'path' | 'verifyReads' | 'expectInPlace'> {
  const table = <K>(name: string, keyEncoder?: KeyEncoder<K>): Table<K> => {
    const keys = keyEncoder ? { keyEncoder: keyEncoder as never } : { keyEncoding: 'binary' as const }
    const opened: unknown = root.openDB({ name, encoding: 'binary', ...keys })
    if (opened) return opened as Table<K>
    const message = `${file} lacks the database ${name}: it is no ledger store, or its creation was cut short`
    throw new LedgerStateError('store_format', message)
  }
  // First of all: a store of another layout has other databases.
  const meta = table<Uint8Array>('meta')
  expectLayout(meta, file, readOnly)
  return {
    root: root as unknown as Environment,
    meta,
    latest: table<Uint8Array>('latest', STORED_KEY_ENCODER),
    latestByStoredKey: table<Uint8Array>('latest'),
    log: table('log', NUMBERED_KEY_ENCODER),
    retired: table('retired', NUMBERED_KEY_ENCODER),
    index: table('index', NUMBERED_KEY_ENCODER),
    large: table('large', NUMBERED_KEY_ENCODER),
    blocks: table('blocks', NUMBERED_KEY_ENCODER),
  }
}

// A meta page of LMDB: 24 bytes of page header, then this magic number. LMDB itself dies on a file that has none.
const META_MAGIC_OFFSET = 24
const META_MAGIC = Buffer.from('dec0efbe', 'hex')

/** @throws `store_format` unless the file is missing, empty, or begins as LMDB's do */
function expectStoreFile(file: string): void {
  if (!existsSync(file) || statSync(file).size === 0) return
  const magic = Buffer.alloc(META_MAGIC.length)
  const descriptor = openSync(file, 'r')
  try {
    readSync(descriptor, magic, 0, magic.length, META_MAGIC_OFFSET)
  } finally {
    closeSync(descriptor)
  }
  if (magic.equals(META_MAGIC)) return
  throw new LedgerStateError('store_format', `${file} is no ledger store, or its first page is damaged`)
}

function expectLayout(meta: Table<Uint8Array>, file: string, readOnly: boolean): void {
  const layout = meta.getBinary(LAYOUT_KEY)
  if (!layout) {
    if (!readOnly) meta.putSync(LAYOUT_KEY, Buffer.from(String(LAYOUT_VERSION)))
    return
  }
  const text = layout.toString('latin1')
  const version = /^\d{1,9}$/.test(text) ? Number(text) : 0
  if (version === LAYOUT_VERSION) return
  const advice =
    version > LAYOUT_VERSION
      ? 'a newer program wrote it; use that one'
      : 'an older program wrote it, which can still read it; ingest anew, into another folder'
  const message = `${file} has layout version ${version}, this program reads version ${LAYOUT_VERSION}: ${advice}`
  throw new LedgerStateError('store_format', message, { version })
}

/** Below this, what fails on a disk fails for want of space. */
const FULL_BELOW_BYTES = 2 ** 20

/** Runs `work` on the store in a folder, turning what LMDB throws into errors of the closed set. */
export function withStoreErrors<T>(path: string, work: () => T): T {
  try {
    return work()
  } catch (cause) {
    if (cause instanceof LedgerStateError) throw cause
    const why = cause instanceof Error ? cause.message : String(cause)
    // LMDB reports a short write as an error of input and output, and a full disk is what mostly shortens it.
    const isShortWrite = /Input\/output error/.test(why)
    if (/ENOSPC|No space left|MDB_MAP_FULL/i.test(why) || (isShortWrite && freeBytes(path) < FULL_BELOW_BYTES))
      throw new LedgerStateError('store_full', `the disk of ${path} is full`, {}, { cause })
    if (/EACCES|Permission denied|EROFS|Read-only file system|readonly database|unable to open database/i.test(why)) {
      const message = `${path} cannot be written to by this process: ${why}`
      throw new LedgerStateError('store_read_only', message, {}, { cause })
    }
    if (/MDB_INVALID|MDB_VERSION_MISMATCH/.test(why))
      throw new LedgerStateError('store_format', `no ledger store: ${why}`, {}, { cause })
    if (/MDB_CORRUPTED|MDB_PAGE_NOTFOUND/.test(why))
      throw new LedgerStateError('store_corrupt', `the store is damaged: ${why}`, {}, { cause })
    const hint = isShortWrite ? ' (has a quota or a limit on the size of files been reached?)' : ''
    throw new LedgerStateError('store_failed', `the store failed: ${why}${hint}`, {}, { cause })
  }
}

function freeBytes(path: string): number {
  try {
    const { bavail, bsize } = statfsSync(path)
    return bavail * bsize
  } catch {
    return Number.POSITIVE_INFINITY
  }
}
