import { rmSync, statSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { isPresent, makeFolderNow, moveDurably } from '@ledger-state/core/files'
import { storeFailed } from '@ledger-state/engine/authoring'
import { folderHasStore, storeCorruptErrors } from '../errors.js'
import type { AtFailpoint } from '../failpoints/failpoints.js'
import { type LmdbStore, LOCK_FILE, openCatalogTables, STORE_FILE, UNFINISHED_STORE_FILE } from '../lmdb/lmdb-store.js'
import { withStoreErrors, withStoreErrorsAsync } from '../lmdb/store-errors.js'
import { acquireWriterLock } from '../lmdb/writer-lock.js'
import { KeyHash } from '../memtable/key-hash.js'
import { getLedgerRecord, type LedgerRecord } from '../records/ledger-record.js'
import { listSegmentRows } from '../records/segment-rows.js'
import { removeUnnamedSegments } from '../segments/segment-names.js'
import { AppendFile, listWalFiles, walFilePath } from '../wal/append-file.js'
import { encodeEmptyFile, encodeSyncMark, FILE_HEADER_LENGTH, recordSeed, syncMarkOffset } from '../wal/file-header.js'
import { firstFileOptions, WalReader } from '../wal/reader.js'
import { HeldFiles } from './held-files.js'
import { HeldSegments } from './held-segments.js'

const MOST_TRIES = 3
/** Interval in milliseconds at which the folder is read until the copy of the data file has begun. */
const POLL_MS = 1

/**
 * Copies the store into a folder: the data file, and the WAL files that existed when its copy began, with the records
 * appended to them during the copy. The WAL files are kept open, because they may be merged and removed before they are
 * copied. The data file gets its name once the copy is complete. Until then nobody else may write to the folder.
 * @throws `store_not_empty`; `store_locked` while another snapshot is taken into the folder; errors of the store
 */
export async function takeSnapshot(
  store: LmdbStore,
  path: string,
  compact: boolean,
  parts: SnapshotParts,
): Promise<void> {
  expectNoStore(path)
  withStoreErrors(path, () => makeFolderNow(path))
  const release = withStoreErrors(path, () => acquireWriterLock(join(path, LOCK_FILE)))
  try {
    // Another snapshot may just have been completed.
    expectNoStore(path)
    await copyStore(store, path, compact, parts)
  } finally {
    release()
  }
}

function expectNoStore(path: string): void {
  if (isPresent(join(path, STORE_FILE))) throw folderHasStore(path)
}

/** Copies the store, as often as files were removed meanwhile. A copy that fails leaves nothing but the lock file. */
async function copyStore(
  store: LmdbStore,
  path: string,
  compact: boolean,
  { atFailpoint, expectGoing }: SnapshotParts,
): Promise<void> {
  const unfinished = join(path, UNFINISHED_STORE_FILE)
  try {
    for (let tries = 0; tries < MOST_TRIES; tries++) {
      withStoreErrors(path, () => removeUnfinished(path, unfinished))
      // LMDB copies the meta pages of the newest state, but the pages of the one that it shows.
      store.seeNewest()
      if (!(await copyAll({ store, path, unfinished, compact, atFailpoint, expectGoing }))) continue
      expectGoing()
      await withStoreErrorsAsync(path, () => moveDurably(unfinished, join(path, STORE_FILE)))
      return
    }
    expectFirstFile(store)
    throw storeFailed('WAL files were merged faster than the snapshot could open them', undefined)
  } catch (error) {
    // Not earlier: the error above reports a full disk if there was no free space, and removing the copy frees some.
    try {
      removeUnfinished(path, unfinished)
    } catch {
      // The next snapshot into this folder removes it.
    }
    throw error
  }
}

/** Checks that the first WAL file that is not merged exists. @throws `store_corrupt` if it does not */
function expectFirstFile({ root, meta, path }: LmdbStore): void {
  root.resetReadTxn()
  const record = getLedgerRecord({ meta })
  if (!record) return
  const file = walFilePath(path, record.walFile)
  if (!isPresent(file)) throw storeCorruptErrors.fileDamaged(file, 0, 'the file is missing')
}

export interface SnapshotParts {
  readonly atFailpoint: AtFailpoint
  /** Called between steps. @throws what ends the copy: `store_closed`, or the reason of a signal */
  readonly expectGoing: () => void
}

interface CopyParts extends SnapshotParts {
  readonly store: LmdbStore
  readonly path: string
  /** Path of the copy of the data file before it gets its name. */
  readonly unfinished: string
  readonly compact: boolean
}

/**
 * Copies everything. Returns false if a file that the copy needs was created, merged and removed before it could be
 * opened.
 */
async function copyAll(parts: CopyParts): Promise<boolean> {
  const { store, path, unfinished, atFailpoint, expectGoing } = parts
  const held = new HeldFiles(store.path)
  const segments = new HeldSegments(store.path, path, expectGoing)
  try {
    await copyDataFile(parts, held, segments)
    expectGoing()
    atFailpoint('snapshot: data file copied')
    return await withStoreErrorsAsync(path, async () => {
      held.holdPresent()
      const merged = readMerged(unfinished, store.storeId)
      if (!(await segments.copy(merged?.segments ?? new Set()))) return false
      return !merged || (await copyWalFiles(parts, merged, held))
    })
  } finally {
    held.close()
    segments.close()
  }
}

/** Copies the data file, and opens WAL files from before the copy begins until after it has begun. */
async function copyDataFile(
  { store, unfinished: file, compact, atFailpoint }: CopyParts,
  held: HeldFiles,
  segments: HeldSegments,
): Promise<void> {
  const holdPresent = () =>
    withStoreErrors(store.path, () => {
      held.holdPresent()
      segments.holdPresent()
    })
  holdPresent()
  atFailpoint('snapshot: files held')
  let isOver = false
  let failure: { readonly error: unknown } | undefined
  const copied = store.root.backup(file, compact).then(
    () => {
      isOver = true
    },
    (error: unknown) => {
      isOver = true
      failure = { error }
    },
  )
  // LMDB begins its read transaction before it writes.
  while (!isOver && !(statSync(file, { throwIfNoEntry: false })?.size ?? 0)) {
    await Promise.race([copied, sleep(POLL_MS)])
    holdPresent()
  }
  holdPresent()
  await copied
  withStoreErrors(dirname(file), () => {
    if (failure) throw failure.error
  })
}

/**
 * Copies the WAL files, beginning with the first that is not merged, as far as they are open and complete. They have
 * all commits made before the copy of the data file began, and perhaps more. Returns false if the first is not open, or
 * if they end below the oldest version of the data file.
 */
async function copyWalFiles(
  { store: { storeId, path: from }, path, atFailpoint, expectGoing }: CopyParts,
  { record }: CopiedState,
  held: HeldFiles,
): Promise<boolean> {
  const numbers = held.numbers.filter((number) => number >= record.walFile)
  // The newest file first: if a copied file has commits, the older one, which is copied later, is then complete.
  for (const number of numbers.toReversed()) {
    held.copy(number, walFilePath(path, number))
    atFailpoint('snapshot: file copied')
  }
  const hash = new KeyHash()
  let { latestVersion } = record.ledger
  const hasOldest = () => latestVersion >= record.ledger.oldestVersion
  /** Removes files that nothing in the copy leads to. */
  const removeAfter = (last: number) => {
    for (const number of numbers) if (number > last) rmSync(walFilePath(path, number))
  }
  for (let options = firstFileOptions({ path, storeId }, record); ; ) {
    const { fileNumber, firstCommit, before } = options
    const file = walFilePath(path, fileNumber)
    // The header of a file is written before the previous file is sealed, which was copied later. If the copy is
    // shorter than the file is now, it was made while the file was created, without commits. If it is as short as the
    // file, the store is damaged.
    const wasCreated = () => statSync(file).size < FILE_HEADER_LENGTH && held.sizeOf(fileNumber) >= FILE_HEADER_LENGTH
    if (!held.has(fileNumber) || wasCreated()) {
      if (!before) return false
      // A writer expects the file that follows a sealed one.
      const empty = encodeEmptyFile({ storeId, fileNumber, firstCommit, before }, undefined)
      const created = await AppendFile.create(path, fileNumber, empty, true)
      created.close()
      removeAfter(fileNumber)
      return hasOldest()
    }
    const copy = new WalReader({ ...options, copyOf: walFilePath(from, fileNumber) }, hash)
    try {
      copy.read()
    } finally {
      copy.close()
    }
    expectGoing()
    await finishCopy(file, copy, recordSeed(storeId, fileNumber))
    latestVersion = copy.segment.head?.latestVersion ?? latestVersion
    if (!copy.isSealed) {
      removeAfter(fileNumber)
      return hasOldest()
    }
    options = copy.next
  }
}

/** Cuts off an incomplete end, and marks that everything else is on disk. */
async function finishCopy(path: string, { segment, end, syncMarks: [marked] }: WalReader, seed: number): Promise<void> {
  const file = AppendFile.open(path, segment.length)
  try {
    await file.sync()
    if (marked?.length === end.length) return
    const mark = { ...end, bootId: marked?.bootId }
    await file.overwrite(encodeSyncMark(mark, seed), syncMarkOffset(marked ? marked.place + 1 : 0))
    await file.sync()
  } finally {
    file.close()
  }
}

function removeUnfinished(path: string, unfinished: string): void {
  for (const file of [unfinished, `${unfinished}-lock`]) rmSync(file, { force: true, recursive: true })
  for (const number of listWalFiles(path)) rmSync(walFilePath(path, number))
  if (isPresent(path)) removeUnnamedSegments(path, new Set())
}

interface CopiedState {
  readonly record: LedgerRecord
  /** Numbers of its segment files. */
  readonly segments: ReadonlySet<number>
}

/** Reads a data file that no other process uses. */
function readMerged(file: string, storeId: bigint): CopiedState | undefined {
  const { root, meta, segments } = openCatalogTables(file, { readOnly: true, storeId })
  try {
    const record = getLedgerRecord({ meta })
    return record && { record, segments: new Set(listSegmentRows({ segments }).map(({ file: number }) => number)) }
  } finally {
    void root.close()
    rmSync(`${file}-lock`, { force: true })
  }
}
