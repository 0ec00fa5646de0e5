import { rmSync, statSync } from 'node:fs'
import { removeIfPossible, syncFolderNow } from '@ledger-state/core/files'
import { storeCorruptErrors } from '../errors.js'
import type { LmdbStore } from '../lmdb/lmdb-store.js'
import { withStoreErrors } from '../lmdb/store-errors.js'
import { Memtable } from '../memtable/memtable.js'
import type { LedgerRecord } from '../records/ledger-record.js'
import { NO_POSITION } from '../records/log-position.js'
import { AppendFile, listWalFiles, walFilePath } from './append-file.js'
import type { ActiveFile, RecoveredWal } from './appender.js'
import { FILE_HEADER_LENGTH } from './file-header.js'
import { firstFileOptions, WalReader } from './reader.js'

/**
 * Reads the WAL files, beginning with the first that is not merged completely, cuts a torn end off the last,
 * and removes those that are not needed.
 * @throws `store_corrupt`
 */
export function recoverWal(store: LmdbStore, record: LedgerRecord | undefined): RecoveredWal {
  return withStoreErrors(store.path, () => {
    // Transactions of the previous writer are on disk before a file is removed or appended to because of them.
    store.sync.beginNow()
    const numbers = listWalFiles(store.path)
    if (record) return recoverFiles(store, record, numbers)
    // The first commit creates a file before it is in LMDB.
    for (const number of numbers) removeWithoutCommits(store, number)
    return { memtable: new Memtable(), active: undefined, nextCommit: 1 }
  })
}

function recoverFiles(store: LmdbStore, record: LedgerRecord, numbers: readonly number[]): RecoveredWal {
  const memtable = new Memtable()
  for (let options = firstFileOptions(store, record); ; ) {
    const { folder, fileNumber } = options
    if (!numbers.includes(fileNumber)) {
      throw storeCorruptErrors.fileDamaged(walFilePath(folder, fileNumber), 0, 'the file is missing')
    }
    const file = new WalReader(options, memtable.hash)
    try {
      file.read()
      memtable.push(file.segment)
      const active = restoreFile(store, file)
      if (file.isSealed) {
        active.close()
        options = file.next
        continue
      }
      try {
        for (const number of numbers) if (number > fileNumber) removeWithoutCommits(store, number)
        if (store.durability !== 'none') syncFolderNow(folder)
      } catch (error) {
        active.close()
        throw error
      }
      // One that cannot be removed now is removed after the next merge.
      for (const number of numbers) if (number < record.walFile) removeIfPossible(walFilePath(folder, number))
      return { memtable, active: toActive(store, file, active), nextCommit: file.nextCommit }
    } finally {
      file.close()
    }
  }
}

/**
 * Cuts a torn end off a file, and writes again the records not known to be on disk: a sync of it may have failed, and
 * the next one would then succeed without it. A sync mark is written once everything before it is synced. With the
 * durability `full` it misses only the last records of the previous writer.
 */
function restoreFile({ durability }: LmdbStore, { path, segment, syncMarks: [marked] }: WalReader): AppendFile {
  const file = AppendFile.open(path, segment.length)
  try {
    file.rewriteNow(segment.bytes, 0, FILE_HEADER_LENGTH)
    file.rewriteNow(segment.bytes, Math.max(marked?.length ?? 0, FILE_HEADER_LENGTH), segment.length)
    if (durability !== 'none') file.syncNow()
    return file
  } catch (error) {
    file.close()
    throw error
  }
}

function toActive({ durability }: LmdbStore, file: WalReader, opened: AppendFile): ActiveFile {
  const { segment, end, syncMarks } = file
  const [marked] = syncMarks
  const synced = durability === 'none' ? (marked ?? NO_POSITION) : end
  return { file: opened, segment, end, synced, marked, nextMark: marked ? marked.place + 1 : 0 }
}

/** Removes a file that was created and not used yet. @throws `store_corrupt` if it has commits */
function removeWithoutCommits({ path }: LmdbStore, number: number): void {
  const file = walFilePath(path, number)
  const { size } = statSync(file)
  if (size > FILE_HEADER_LENGTH)
    throw storeCorruptErrors.fileDamaged(file, FILE_HEADER_LENGTH, 'the file before it is not complete')
  rmSync(file)
}
