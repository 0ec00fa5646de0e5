import { closeSync, existsSync, openSync, readSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { LedgerStateError } from '@ledger-state/core'
import { type Database, open, type RootDatabase } from 'lmdb'
import { encodeVersion } from './records.js'
import { STORED_KEY_ENCODER } from './stored-key.js'

/** Raised when the layout of records changes; a store of another version is refused. */
const LAYOUT_VERSION = 1n

export const STORE_FILE = 'state.mdb'
export const LOCK_FILE = 'writer.lock'

/** Address space to begin with, not memory or disk: large, so that no process has to map the file anew as it grows. */
const MAP_SIZE_BYTES = 2 ** 40

export interface LmdbStore {
  readonly root: RootDatabase<Buffer, Uint8Array>
  readonly meta: Database<Buffer, Uint8Array>
  /** Keyed by the user's keys. */
  readonly latest: Database<Buffer, Uint8Array>
  readonly history: Database<Buffer, Uint8Array>
  readonly stale: Database<Buffer, Uint8Array>
  readonly blocks: Database<Buffer, Uint8Array>
}

const LAYOUT_KEY = Buffer.from('layout')
export const LEDGER_KEY = Buffer.from('ledger')

export interface LmdbStoreOptions {
  readonly path: string
  readonly readOnly: boolean
}

/** @throws `store_missing`, `store_format`, `store_failed` */
export function openLmdbStore({ path, readOnly }: LmdbStoreOptions): LmdbStore {
  const file = join(path, STORE_FILE)
  if (readOnly && !existsSync(file)) throw new LedgerStateError('store_missing', `there is no ledger store in ${path}`)
  const store = withStoreErrors(() => {
    expectStoreFile(file)
    const root = open<Buffer, Uint8Array>({
      path: file,
      readOnly,
      noSubdir: true,
      maxDbs: 8,
      mapSize: MAP_SIZE_BYTES,
      encoding: 'binary',
      keyEncoding: 'binary',
      // A commit returns when it is on disk.
      overlappingSync: false,
    })
    const database = (name: string, keyEncoder?: typeof STORED_KEY_ENCODER): Database<Buffer, Uint8Array> => {
      const opened = root.openDB<Buffer, Uint8Array>({
        name,
        encoding: 'binary',
        ...(keyEncoder ? { keyEncoder: keyEncoder as never } : { keyEncoding: 'binary' as const }),
      }) as Database<Buffer, Uint8Array> | undefined
      if (opened) return opened
      const message = `${file} lacks the database ${name}: it is no ledger store, or its creation was cut short`
      throw new LedgerStateError('store_format', message)
    }
    return {
      root,
      meta: database('meta'),
      latest: database('latest', STORED_KEY_ENCODER),
      history: database('history'),
      stale: database('stale'),
      blocks: database('blocks'),
    }
  })
  expectLayout(store, file, readOnly)
  return store
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

function expectLayout({ meta }: LmdbStore, file: string, readOnly: boolean): void {
  const layout = meta.getBinary(LAYOUT_KEY)
  if (!layout && !readOnly) meta.putSync(LAYOUT_KEY, encodeVersion(LAYOUT_VERSION))
  else if (layout && !layout.equals(encodeVersion(LAYOUT_VERSION))) {
    throw new LedgerStateError(
      'store_format',
      `${file} has another layout than version ${LAYOUT_VERSION}, which this program reads`,
    )
  }
}

/** Runs `work`, turning what LMDB throws into errors of the closed set. */
export function withStoreErrors<T>(work: () => T): T {
  try {
    return work()
  } catch (cause) {
    if (cause instanceof LedgerStateError) throw cause
    const why = cause instanceof Error ? cause.message : String(cause)
    if (/ENOSPC|No space left|MDB_MAP_FULL/i.test(why))
      throw new LedgerStateError('store_full', 'the disk of the store is full', {}, { cause })
    if (/MDB_INVALID|MDB_VERSION_MISMATCH/.test(why))
      throw new LedgerStateError('store_format', `no ledger store: ${why}`, {}, { cause })
    if (/MDB_CORRUPTED|MDB_PAGE_NOTFOUND/.test(why))
      throw new LedgerStateError('store_corrupt', `the store is damaged: ${why}`, {}, { cause })
    // LMDB reports a short write as this, and a full disk is what mostly shortens it.
    const hint = /Input\/output error/.test(why) ? ' (is the disk or a quota full?)' : ''
    throw new LedgerStateError('store_failed', `the store failed: ${why}${hint}`, {}, { cause })
  }
}
