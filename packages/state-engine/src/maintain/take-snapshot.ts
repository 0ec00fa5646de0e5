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

/**
 * Copies the store into a folder: first the write-ahead files from the first that is not merged on, then the data file, in
 * which more of them may be merged. The data file gets its name once the copy is complete.
 */
export async function takeSnapshot(store: LmdbStore, path: string, compact: boolean): Promise<void> {
  if (existsSync(join(path, STORE_FILE))) throw folderHasStore(path)
  const unfinished = join(path, `${STORE_FILE}.part`)
  withStoreErrors(path, () => {
    mkdirSync(path, { recursive: true })
    removeUnfinished(path, unfinished)
  })
  try {
    withStoreErrors(path, () => copyWriteAhead(store, path))
    const failure = await store.root.backup(unfinished, compact).then(
      () => undefined,
      (error: unknown) => ({ error }),
    )
    withStoreErrors(path, () => {
      if (failure) throw failure.error
      matchWriteAhead(store, path, readLedgerRecord(unfinished))
      renameSync(unfinished, join(path, STORE_FILE))
      syncFolder(path)
    })
  } catch (error) {
    // Not earlier: free space tells whether the disk was full.
    removeUnfinished(path, unfinished)
    throw error
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
