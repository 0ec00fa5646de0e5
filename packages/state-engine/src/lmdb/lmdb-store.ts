import { randomBytes } from 'node:crypto'
import { accessSync, constants, rmSync, type Stats, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { crc32 } from 'node:zlib'
import { isPresent, moveDurablyNow } from '@ledger-state/core/files'
import { storeCorrupt } from '@ledger-state/engine/authoring'
import { openRecord, RecordBuilder } from '../bytes/record.js'
import { ROW_KEY_ENCODER, type RowKey } from '../bytes/row-key.js'
import { storeFailedErrors, storeFormat, storeMissing } from '../errors.js'
import { ChangeRecorder } from './change-recorder.js'
import type { Compress } from './compress.js'
import { expectSoundFile } from './data-file.js'
import { DataFileSync } from './data-file-sync.js'
import { DataPages } from './data-pages.js'
import type { Durability } from './durability.js'
import { EMPTY_FILE_LENGTH, emptyDataFile } from './empty-file.js'
import { seeNewest, showNewer } from './last-transaction.js'
import { DEFAULT_MAP_BYTES, type EnvironmentOptions, openEnvironment } from './open-environment.js'
import { STORE_ID_KEY } from './store-claim.js'
import { withStoreErrors } from './store-errors.js'
import type { KeyEncoder, LmdbEnvironment, ReadTransaction, Table } from './table.js'
import { runTransaction } from './write-transaction.js'
import { acquireWriterLock } from './writer-lock.js'

/** Number of the layout on disk. Stores with another number are refused. CONTRIBUTING.md says when it is raised. */
const LAYOUT_VERSION = 11

/** Name of the data file in the folder of a store. A folder without it has no store. */
export const STORE_FILE = 'state.mdb'
/** Name of the data file of a copy until the copy is complete. */
export const UNFINISHED_STORE_FILE = `${STORE_FILE}.part`
export const LOCK_FILE = 'writer.lock'

export interface LmdbStore {
  /** Folder of the store. */
  readonly path: string
  readonly readOnly: boolean
  readonly durability: Durability
  /** Whether each snapshot compares the blocks that it reads with their checksums. */
  readonly verifyReads: boolean
  /** Which segment files of high levels are compressed. */
  readonly compress: Compress
  /** A random u64, made with the store, by which a WAL file of another store is recognized. */
  readonly storeId: bigint
  /** Id in the headers of the segment files. It is the store's, except in parts of a ledger that are joined later. */
  readonly segmentsId: bigint
  readonly root: LmdbEnvironment
  readonly meta: Table<Uint8Array>
  /** Segment files, by first version and file number: `segment-rows.ts`. */
  readonly segments: Table<RowKey>
  /** Knows which part of the data file is on disk. */
  readonly sync: DataFileSync
  /** Knows the changes that a transaction makes. */
  readonly recorder: ChangeRecorder
  /** The data file. */
  readonly file: string
  /** Size of the map, if it was given. */
  readonly mapBytes: number | undefined
  /** Checks that the data file is still the one that was opened. @throws `store_missing` if it is not */
  expectInPlace(): void
  /**
   * Called if a state names a file that is gone. Returns false if that is the newest state, so the store is damaged.
   * Otherwise the next read transaction sees a newer one, even if the opening of another process has taken back the last
   * transaction: `last-transaction.ts`.
   * @throws `store_failed` if this process cannot bring it back
   */
  showNewer(transaction: ReadTransaction): boolean
  /**
   * Makes the next read outside of a transaction see the newest state, even if the opening of another process has taken back
   * the last transaction.
   * @throws `store_failed` as `showNewer`
   */
  seeNewest(): void
}

const LAYOUT_KEY = Buffer.from('layout')
/** Key of the id in the headers of segment files, if that is not the store's. */
const SEGMENTS_ID_KEY = Buffer.from('segments-id')
const SEGMENTS_ID_SEED = crc32(SEGMENTS_ID_KEY)

export interface LmdbStoreOptions {
  readonly path: string
  readonly readOnly: boolean
  readonly durability?: Durability | undefined
  readonly verifyReads?: boolean | undefined
  readonly mapBytes?: number | undefined
  readonly compress?: Compress | undefined
  /** Id in the headers of the segment files of a store that is created; by default the store's own. */
  readonly segmentsId?: bigint | undefined
}

/**
 * Checks that there is a store, and that this process may read it.
 * @throws `store_missing`; `store_failed` if it may not
 */
export function expectStore(path: string): void {
  try {
    accessSync(join(path, STORE_FILE), constants.R_OK)
  } catch (cause) {
    const { code, message } = cause as NodeJS.ErrnoException
    if (code === 'ENOENT' || code === 'ENOTDIR') {
      throw storeMissing.notFound(path)
    }
    throw storeFailedErrors.storeNotReadable(path, message, cause)
  }
}

/** Opens the databases of a store. @throws `store_missing`, `store_format`, `store_corrupt`, `store_failed` */
export function openLmdbStore({
  path,
  readOnly,
  durability = 'full',
  verifyReads = false,
  mapBytes,
  compress = 'auto',
  segmentsId,
}: LmdbStoreOptions): LmdbStore {
  const file = join(path, STORE_FILE)
  if (readOnly) expectStore(path)
  return withStoreErrors(path, () => {
    if (!readOnly && !hasStore(file)) createDataFile(file, { mapBytes, segmentsId })
    const found = expectPresent(path, file)
    expectSoundFile(file, !readOnly)
    const root = openEnvironment(file, { readOnly, mapBytes })
    try {
      if (statSync(file, { throwIfNoEntry: false })?.ino !== found.ino) throw storeMissing.notFound(path)
      const tables = openTables(root, file)
      const sync = new DataFileSync(file, durability)
      const recorder = new ChangeRecorder()
      recorder.watch('meta', tables.meta)
      recorder.watch('segments', tables.segments)
      const showNewerThan = (transaction: ReadTransaction) => showNewer(tables.root, transaction)
      const expectInPlace = createPlaceCheck(file)
      return {
        ...tables,
        path,
        readOnly,
        durability,
        verifyReads,
        compress,
        sync,
        recorder,
        file,
        mapBytes,
        expectInPlace,
        showNewer: showNewerThan,
        seeNewest: () => seeNewest(tables.root),
      }
    } catch (error) {
      void root.close()
      // If the file was removed at this moment, LMDB has created an empty one.
      if (readOnly) removeEmptyFile(path, file)
      throw error
    }
  })
}

/** Whether there is a data file with databases. A reader of a file that is removed at this moment makes an empty one. */
function hasStore(file: string): boolean {
  if (!isPresent(file)) return false
  const pages = new DataPages(file)
  try {
    return pages.size > EMPTY_FILE_LENGTH || !pages.isEmpty()
  } finally {
    pages.close()
  }
}

/** Removes a data file without databases, unless a writer may be about to replace it. */
function removeEmptyFile(path: string, file: string): void {
  if (hasStore(file)) return
  try {
    const release = acquireWriterLock(join(path, LOCK_FILE))
    if (!hasStore(file)) rmSync(file, { force: true })
    release()
  } catch {
    // The next writer replaces it.
  }
}

/** The data file of a store. @throws `store_missing` if it was removed, or if a reader of a removed store made it */
function expectPresent(path: string, file: string): Stats {
  const found = statSync(file, { throwIfNoEntry: false })
  if (!found || !hasStore(file)) throw storeMissing.notFound(path)
  return found
}

/** Creates a data file. It gets its name once it is complete, so an interrupted creation leaves no store. */
function createDataFile(
  file: string,
  { mapBytes, segmentsId }: Pick<LmdbStoreOptions, 'mapBytes' | 'segmentsId'>,
): void {
  const unfinished = `${file}.new`
  rmSync(unfinished, { force: true })
  writeFileSync(unfinished, emptyDataFile(mapBytes ?? DEFAULT_MAP_BYTES))
  const root = openEnvironment(unfinished, { readOnly: false, mapBytes })
  try {
    runTransaction(root, 'none', () => openTables(root, file, { create: true, segmentsId }))
  } finally {
    void root.close()
    rmSync(`${unfinished}-lock`, { force: true })
  }
  moveDurablyNow(unfinished, file)
}

/**
 * Makes a check that the file was not replaced. The open file keeps its inode number, so a file that replaces it has
 * another.
 */
function createPlaceCheck(file: string): () => void {
  const opened = statSync(file)
  return () => {
    const found = statSync(file, { throwIfNoEntry: false })
    if (found?.ino === opened.ino && found.dev === opened.dev) return
    throw storeMissing.storeFileGone(file, found ? 'replaced' : 'removed')
  }
}

export type CatalogTables = Pick<LmdbStore, 'storeId' | 'segmentsId' | 'root' | 'meta' | 'segments'>

/** Opens the tables of the store with an id. @throws `store_missing` if the file is of another one */
export function openCatalogTables(
  file: string,
  { storeId, ...options }: EnvironmentOptions & { readonly storeId: bigint },
): CatalogTables {
  const root = openEnvironment(file, options)
  try {
    const tables = openTables(root, file)
    if (tables.storeId !== storeId) throw storeMissing.storeFileGone(file, 'replaced')
    return tables
  } catch (error) {
    void root.close()
    throw error
  }
}

function openTables(
  root: LmdbEnvironment,
  file: string,
  { create = false, segmentsId }: { readonly create?: boolean; readonly segmentsId?: bigint | undefined } = {},
): CatalogTables {
  const table = <K>(name: string, keyEncoder?: KeyEncoder<K>): Table<K> => {
    const keys = keyEncoder ? { keyEncoder } : { keyEncoding: 'binary' as const }
    const opened = root.openDB<K>({ name, encoding: 'binary', create, ...keys })
    if (opened) return opened
    throw storeFormat.notAStore(file, `it has no database ${name}`)
  }
  // The layout is checked first, because a store of another layout has other databases.
  const meta = table<Uint8Array>('meta')
  expectLayout(meta, file, create)
  const storeId = expectStoreId(meta, create)
  return {
    storeId,
    segmentsId: expectSegmentsId(meta, create ? segmentsId : undefined) ?? storeId,
    root,
    meta,
    segments: table('segments', ROW_KEY_ENCODER),
  }
}

function expectLayout(meta: Table<Uint8Array>, file: string, create: boolean): void {
  if (create) meta.putSync(LAYOUT_KEY, Buffer.from(String(LAYOUT_VERSION)))
  const layout = meta.getBinary(LAYOUT_KEY)
  if (!layout) throw storeFormat.notAStore(file, 'it has no number of a layout')
  const text = layout.toString('latin1')
  const version = /^\d{1,9}$/.test(text) ? Number(text) : 0
  if (version !== LAYOUT_VERSION) throw storeFormat.layoutUnknown(file, version, LAYOUT_VERSION)
}

function expectStoreId(meta: Table<Uint8Array>, create: boolean): bigint {
  if (create) meta.putSync(STORE_ID_KEY, new RecordBuilder().begin().bytes(randomBytes(8)).seal(0))
  const record = meta.getBinary(STORE_ID_KEY)
  if (record?.length !== 12) throw storeCorrupt('the store has no id')
  return openRecord(record, 0, () => 'the id of the store').readBigUInt64BE()
}

/** @param create id that is given to a new store */
function expectSegmentsId(meta: Table<Uint8Array>, create: bigint | undefined): bigint | undefined {
  if (create !== undefined)
    meta.putSync(SEGMENTS_ID_KEY, new RecordBuilder().begin().u64(create).seal(SEGMENTS_ID_SEED))
  const record = meta.getBinary(SEGMENTS_ID_KEY)
  if (!record) return undefined
  const content = openRecord(record, SEGMENTS_ID_SEED, () => 'the id of the segment files')
  if (content.length !== 8) throw storeCorrupt('the store has no id of its segment files')
  return content.readBigUInt64BE()
}
