import { rmSync } from 'node:fs'
import { join } from 'node:path'
import { RecordBuilder } from '../bytes/record.js'
import { storeCorruptErrors } from '../errors.js'
import { openLmdbStore, STORE_FILE } from '../lmdb/lmdb-store.js'
import { withStoreErrorsAsync } from '../lmdb/store-errors.js'
import { runTransaction } from '../lmdb/write-transaction.js'
import { NOTHING_MERGED, putLedgerRecord } from '../records/ledger-record.js'
import { NO_POSITION } from '../records/log-position.js'
import { putMark } from '../records/mark.js'
import { expectAllVersions, putSegmentRow, type SegmentRow } from '../records/segment-rows.js'
import { putTruncations } from '../records/truncations.js'
import { BlockCache } from '../segments/block-cache.js'
import { rowOf } from '../segments/named-segment.js'
import { SegmentLists } from '../segments/segment-lists.js'
import { segmentPath } from '../segments/segment-names.js'
import { SegmentReader } from '../segments/segment-reader.js'
import { AppendFile, listWalFiles, walFilePath } from '../wal/append-file.js'
import { encodeEmptyFile } from '../wal/file-header.js'
import type { StoreFacts } from './store-segments.js'

const FIRST_WAL_FILE = 1
const FIRST_COMMIT = 1

/** A segment file in the folder of a store that is being made. */
export interface PlacedSegment {
  /** Number of the file. */
  readonly file: number
  readonly until: bigint
}

/**
 * Makes a store of segment files that are in its folder: a catalog, and a WAL file without commits. It reads the header, the
 * footer and the lists of blocks of each file; `check` reads everything.
 * @throws `store_corrupt` if a file is damaged, or belongs to other files, or if versions are missing
 */
export async function createStoreOf(path: string, facts: StoreFacts, placed: readonly PlacedSegment[]): Promise<void> {
  await withStoreErrorsAsync(path, async () => {
    removeCatalog(path)
    const { ledger, base, segmentsId, mark } = facts
    const { rows, blocks } = readFiles(path, facts, placed)
    const ordered = rows.toSorted((a, b) => Number(a.firstVersion - b.firstVersion) || a.file - b.file)
    const record = {
      ledger,
      base,
      walFile: FIRST_WAL_FILE,
      nextCommit: FIRST_COMMIT,
      ...NOTHING_MERGED,
      nextFile: Math.max(...rows.map(({ file }) => file)) + 1,
      files: rows.length,
      blocks,
    }
    expectAllVersions(ordered, record)
    const store = openLmdbStore({ path, readOnly: false, segmentsId })
    try {
      const builder = new RecordBuilder()
      const { storeId } = store
      const header = { storeId, fileNumber: FIRST_WAL_FILE, firstCommit: FIRST_COMMIT, before: NO_POSITION }
      const file = await AppendFile.create(path, FIRST_WAL_FILE, encodeEmptyFile(header, undefined), true)
      file.close()
      runTransaction(store.root, 'full', () => {
        for (const row of ordered) putSegmentRow(store, builder, row)
        putMark(store, builder, mark)
        if (ledger.truncations?.length) putTruncations(store, builder, ledger.truncations)
        putLedgerRecord(store, builder, record)
      })
    } finally {
      await store.root.close()
    }
  })
}

/** Removes the remains of an interrupted creation, and keeps the segment files. */
function removeCatalog(path: string): void {
  for (const name of [STORE_FILE, `${STORE_FILE}-lock`]) rmSync(join(path, name), { force: true })
  for (const number of listWalFiles(path)) rmSync(walFilePath(path, number))
}

function readFiles(
  folder: string,
  { segmentsId, ledger }: StoreFacts,
  placed: readonly PlacedSegment[],
): { readonly rows: readonly SegmentRow[]; readonly blocks: number } {
  const cache = new BlockCache(0)
  let blocks = 0
  const rows = placed.map(({ file, until }): SegmentRow => {
    const path = segmentPath(folder, file)
    const reader = new SegmentReader(path, { cache, isMapped: false })
    try {
      const { storeId, firstVersion, lastVersion } = reader.identity
      if (storeId !== segmentsId) throw storeCorruptErrors.fileDamaged(path, 0, 'it belongs to another store')
      if (until < firstVersion || until > lastVersion) {
        throw storeCorruptErrors.fileDamaged(path, 0, `it does not have version ${until}`)
      }
      for (const { firstVersion: begin } of new SegmentLists(reader)) {
        if (begin <= until && begin >= ledger.oldestVersion) blocks++
      }
      return rowOf(reader, file, until)
    } finally {
      reader.close()
    }
  })
  return { rows, blocks }
}
