import {
  closeSync,
  copyFileSync,
  existsSync,
  fsyncSync,
  ftruncateSync,
  mkdirSync,
  openSync,
  renameSync,
  rmSync,
} from 'node:fs'
import { join } from 'node:path'
import { decodeLedgerRecord, type LedgerRecord } from '../databases/ledger-record.js'
import { LEDGER_KEY, type LmdbStore, STORE_FILE, withStoreErrors } from '../lmdb/lmdb-store.js'
import { openEnvironment } from '../lmdb/open-environment.js'
import type { Environment, Table } from '../lmdb/table.js'
import { KeyHash } from '../memory-table/key-hash.js'
import { SegmentFile } from '../memory-table/segment-file.js'
import { folderHasStore, writeAheadDamaged } from '../port/errors.js'
import { AppendFile, listWriteAheadFiles, syncFolder, writeAheadPath } from '../write-ahead/files.js'

const MOST_TRIES = 5

/**
 * Copies the store into a folder: the write-ahead files from the first that is not merged on, the data file, in which more of
 * them may be merged, and then what was appended to them meanwhile: some of it may be merged, too. The data file gets its
 * name once the copy is complete.
 */
export async function takeSnapshot(store: LmdbStore, path: string, compact: boolean): Promise<void> {
  if (existsSync(join(path, STORE_FILE))) throw folderHasStore(path)
  const unfinished = join(path, `${STORE_FILE}.part`)
  withStoreErrors(path, () => {
    mkdirSync(path, { recursive: true })
    removeUnfinished(path, unfinished)
  })
  try {
    for (let tries = 1; !(await copyAll(store, path, unfinished, compact)); tries++) {
      if (tries === MOST_TRIES) throw writeAheadDamaged(store.path, 0, 'files were merged faster than they were copied')
      withStoreErrors(path, () => removeUnfinished(path, unfinished))
    }
    withStoreErrors(path, () => {
      renameSync(unfinished, join(path, STORE_FILE))
      syncFolder(path)
    })
  } catch (error) {
    // Not earlier: free space tells whether the disk was full.
    removeUnfinished(path, unfinished)
    throw error
  }
}

/** Returns false if a file was merged and removed whose copy lacks its end. */
async function copyAll(store: LmdbStore, path: string, unfinished: string, compact: boolean): Promise<boolean> {
  withStoreErrors(path, () => copyWriteAhead(store, path))
  const failure = await store.root.backup(unfinished, compact).then(
    () => undefined,
    (error: unknown) => ({ error }),
  )
  return withStoreErrors(path, () => {
    if (failure) throw failure.error
    const record = readLedgerRecord(unfinished)
    const isWhole = !record || copyFrom(store, path, record) || hasSealedCopy(store, path, record)
    matchWriteAhead(store, path, record)
    return isWhole
  })
}

/** Whether the copy has all of the first file that is not merged, and the one that follows it. */
function hasSealedCopy({ storeId }: LmdbStore, path: string, record: LedgerRecord): boolean {
  const { walFile: fileNumber, nextCommit: firstCommit } = record
  if (!existsSync(writeAheadPath(path, fileNumber))) return false
  const blockBefore = record.ledger.latestBlock
  const copy = new SegmentFile({ folder: path, storeId, fileNumber, firstCommit, blockBefore }, new KeyHash())
  try {
    copy.read()
    return copy.isSealed && existsSync(writeAheadPath(path, fileNumber + 1))
  } finally {
    copy.close()
  }
}

function removeUnfinished(path: string, unfinished: string): void {
  for (const file of [unfinished, `${unfinished}-lock`]) rmSync(file, { force: true, recursive: true })
  for (const number of listWriteAheadFiles(path)) rmSync(writeAheadPath(path, number))
}

/** Copies the write-ahead files as far as they are complete. */
function copyWriteAhead(store: LmdbStore, path: string): void {
  for (let tried: number | undefined; ; ) {
    const record = currentRecord(store)
    if (!record || copyFrom(store, path, record)) return
    // A merge that finished meanwhile has removed a file: then the ledger record names a later one.
    if (record.walFile === tried) throw writeAheadDamaged(writeAheadPath(store.path, tried), 0, 'the file is missing')
    tried = record.walFile
  }
}

/** Returns false if a file is missing. */
function copyFrom({ path: folder, storeId }: LmdbStore, path: string, record: LedgerRecord): boolean {
  const hash = new KeyHash()
  let firstCommit = record.nextCommit
  for (let fileNumber = record.walFile; ; fileNumber++) {
    const copyPath = writeAheadPath(path, fileNumber)
    if (!copyIfThere(writeAheadPath(folder, fileNumber), copyPath)) return false
    const copy = new SegmentFile(
      { folder: path, storeId, fileNumber, firstCommit, blockBefore: record.ledger.latestBlock },
      hash,
    )
    try {
      copy.read()
    } finally {
      copy.close()
    }
    const descriptor = openSync(copyPath, 'r+')
    try {
      ftruncateSync(descriptor, copy.segment.length)
      fsyncSync(descriptor)
    } finally {
      closeSync(descriptor)
    }
    if (!copy.isSealed) return true
    firstCommit = copy.nextCommit
  }
}

function copyIfThere(from: string, to: string): boolean {
  try {
    copyFileSync(from, to)
    return true
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return false
    throw error
  }
}

/** Removes the copies of files that are merged in the copy, and creates the file that it has no copy of. */
function matchWriteAhead({ storeId }: LmdbStore, path: string, record: LedgerRecord | undefined): void {
  const numbers = listWriteAheadFiles(path)
  for (const number of numbers) if (!record || number < record.walFile) rmSync(writeAheadPath(path, number))
  if (!record || numbers.includes(record.walFile)) return
  const header = { storeId, fileNumber: record.walFile, firstCommit: record.nextCommit }
  AppendFile.create(path, header, true).close()
}

function currentRecord({ root, meta }: LmdbStore): LedgerRecord | undefined {
  root.resetReadTxn()
  const transaction = root.useReadTransaction()
  try {
    const bytes = meta.getBinary(LEDGER_KEY, { transaction })
    return bytes && decodeLedgerRecord(bytes)
  } finally {
    transaction.done()
  }
}

/** The ledger record of a data file that nobody else uses. */
function readLedgerRecord(file: string): LedgerRecord | undefined {
  const root = openEnvironment(file, { readOnly: true, readAhead: false })
  try {
    const meta = root.openDB({
      name: 'meta',
      encoding: 'binary',
      keyEncoding: 'binary',
    }) as unknown as Table<Uint8Array>
    const bytes = meta.getBinary(LEDGER_KEY)
    return bytes && decodeLedgerRecord(bytes)
  } finally {
    void (root as unknown as Environment).close()
    rmSync(`${file}-lock`, { force: true })
  }
}
