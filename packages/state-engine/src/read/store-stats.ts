import type { LmdbStore } from '../lmdb/lmdb-store.js'
import type { TableStats } from '../lmdb/table.js'
import type { Memtable } from '../memtable/memtable.js'
import type { LedgerRecord } from '../records/ledger-record.js'
import type { SegmentRow } from '../records/segment-rows.js'
import { HEADER_LENGTH, type Part, type PartName } from '../segments/format.js'
import { countKeys } from '../segments/key-sketch.js'
import type { ReadSnapshot } from './read-snapshot.js'
import type { SegmentSlice } from './segment-slices.js'
import { type VersionLists, writesAfter } from './writes-after.js'

/** Statistics of the files of a store, and of the data that is not merged into them. */
export interface StoreStats {
  /**
   * Number of keys with a merged write, including those deleted inside the window. It is exact for a store with one segment
   * file or with fewer than 2,048 keys. Otherwise it is an estimate with a standard error of 2.2 %: `check` counts.
   */
  readonly keys: number
  /**
   * Number of writes after the oldest version of the window, merged or not: those that histories list. It is exact unless a
   * segment file with more than 131,072 writes reaches over the beginning of the window; then the writes of that file are
   * shared among its blocks.
   */
  readonly historyEntries: number
  /** Number of merged writes in the files, including those that no version of the window sees. */
  readonly mergedWrites: number
  /**
   * Bytes of the segment files that no version of the window needs, about: those of superseded writes at or below its oldest
   * version. A compact snapshot leaves them out.
   */
  readonly reclaimableBytes: number
  /** Number of blocks of the window, merged or not. */
  readonly blocks: number
  /** Number of bytes of the merged keys and values, each key counted with each write, without any overhead. */
  readonly payloadBytes: number
  /** Size of the catalog and of the segment files in bytes. */
  readonly fileBytes: number
  /** Number of bytes of the catalog that are free and will be reused. */
  readonly freeBytes: number
  /** Size up to which the catalog can grow before every process has to map it again. */
  readonly mapBytes: number
  /** Segment files of each level, the lowest first. */
  readonly levels: readonly LevelStats[]
  /** Number of writes in the memtable. Those that were merged leave it a moment after the merge. */
  readonly memtableEntries: number
  /** Memory in bytes that the memtable takes in this process. */
  readonly memtableBytes: number
  /** Size in bytes of the WAL files that the memtable has. */
  readonly walBytes: number
  /** Number of slots of readers in use, and of all slots. */
  readonly readers: { readonly used: number; readonly most: number }
}

/** The segment files of a level. */
export interface LevelStats {
  readonly level: number
  readonly files: number
  /** Number of writes in them. */
  readonly writes: number
  /** Number of bytes of their keys and values, each key counted with each write. */
  readonly payloadBytes: number
  readonly fileBytes: number
  /** Number of bytes of the keys and values as they are stored. The rest is found by these: */
  readonly blockBytes: number
  /** Number of bytes of the indexes, with their separators. */
  readonly indexBytes: number
  readonly filterBytes: number
}

const META_PAGES = 2

/** Counts the contents of one state of a store. `slices` are its segment files; `lists` remembers their versions. */
export function storeStats(
  store: LmdbStore,
  lists: VersionLists,
  { record, memtable, slices }: Pick<ReadSnapshot, 'record' | 'memtable' | 'slices'>,
): StoreStats {
  const { root, meta, segments } = store
  const { lastPageNumber, pageSize, mapSize, maxReaders, numReaders, free } = root.getStats()
  const catalogBytes = pageSize * (pagesOf(meta.getStats()) + pagesOf(segments.getStats()))
  const dataFileBytes = (lastPageNumber + 1) * pageSize
  const sum = (of: (row: SegmentRow) => number) => slices.reduce((total, { row }) => total + of(row), 0)
  const segmentBytes = sum(({ fileBytes: bytes }) => bytes)
  const segmentKeys = countSliceKeys(slices)
  const writes = sum((row) => row.writes)
  const freeBytes = Math.max(0, dataFileBytes - catalogBytes - (pagesOf(free) + META_PAGES) * pageSize)
  return {
    keys: segmentKeys,
    historyEntries: countHistory(record, { memtable, slices }, lists),
    mergedWrites: writes,
    reclaimableBytes: countUnseenBytes(record, slices, lists),
    blocks: (record?.blocks ?? 0) + unmergedBlocks(record, memtable),
    payloadBytes: sum(({ payloadBytes }) => payloadBytes),
    fileBytes: dataFileBytes + segmentBytes,
    freeBytes,
    mapBytes: mapSize,
    levels: levelStats(slices),
    memtableEntries: memtable.segments.reduce((sum, { entryCount }) => sum + entryCount, 0),
    memtableBytes: memtable.byteSize,
    walBytes: memtable.segments.reduce((sum, { length }) => sum + length, 0),
    readers: { used: numReaders, most: maxReaders },
  }
}

function levelStats(slices: readonly SegmentSlice[]): readonly LevelStats[] {
  const ofLevels = Map.groupBy(slices, ({ row }) => row.level)
  const levels = [...ofLevels].map(([level, files]) => {
    const sum = (of: (slice: SegmentSlice) => number) => files.reduce((total, slice) => total + of(slice), 0)
    const sumOfPart = (name: PartName) => sum(({ reader }) => lengthOf(reader.summary.parts[name]))
    return {
      level,
      files: files.length,
      writes: sum(({ row }) => row.writes),
      payloadBytes: sum(({ row }) => row.payloadBytes),
      fileBytes: sum(({ row }) => row.fileBytes),
      blockBytes: sum(({ reader }) => reader.summary.parts.index.start - HEADER_LENGTH),
      indexBytes: sumOfPart('index') + sumOfPart('separators'),
      filterBytes: sumOfPart('filter'),
    }
  })
  return levels.toSorted((a, b) => a.level - b.level)
}

function lengthOf({ start, end }: Part): number {
  return end - start
}

/** Number of writes after the oldest version. */
function countHistory(
  record: LedgerRecord | undefined,
  { memtable, slices }: Pick<ReadSnapshot, 'memtable' | 'slices'>,
  lists: VersionLists,
): number {
  const merged = record?.ledger.latestVersion ?? -1n
  const oldest = record?.ledger.oldestVersion ?? memtable.segments[0]?.firstVersion ?? 0n
  const unmerged = (merged > oldest ? merged : oldest) + 1n
  const inMemory = memtable.segments.reduce(
    (sum, segment) => sum + segment.entryCount - segment.firstEntryFrom(unmerged),
    0,
  )
  return slices.reduce((sum, slice) => sum + writesAfter(slice, oldest, lists), inMemory)
}

/** Bytes of writes at or below the oldest version that others at or below it supersede. */
function countUnseenBytes(
  record: LedgerRecord | undefined,
  slices: readonly SegmentSlice[],
  lists: VersionLists,
): number {
  if (!record) return 0
  const { oldestVersion } = record.ledger
  const below = slices.filter(({ row }) => row.firstVersion <= oldestVersion)
  const [bytes, writes, after] = [
    below.reduce((sum, { row }) => sum + row.fileBytes, 0),
    below.reduce((sum, { row }) => sum + row.writes, 0),
    below.reduce((sum, slice) => sum + writesAfter(slice, oldestVersion, lists), 0),
  ]
  const unseen = Math.max(0, writes - after - countSliceKeys(below))
  return writes === 0 ? 0 : Math.round((bytes * unseen) / writes)
}

function countSliceKeys(slices: readonly SegmentSlice[]): number {
  const withKeys = slices.filter(({ row }) => row.keys > 0)
  const counts = withKeys.map(({ row }) => row.keys)
  const sum = counts.reduce((total, keys) => total + keys, 0)
  if (counts.length < 2) return sum
  return Math.min(sum, Math.max(...counts, countKeys(withKeys.map(({ reader }) => reader.sketch))))
}

function unmergedBlocks(record: LedgerRecord | undefined, { segments }: Memtable): number {
  if (!record) return 0
  const { oldestVersion, latestVersion } = record.ledger
  const before = oldestVersion > latestVersion ? oldestVersion - 1n : latestVersion
  return segments.reduce((sum, { blocks }) => sum + blocks.countAbove(before), 0)
}

function pagesOf({ treeBranchPageCount, treeLeafPageCount, overflowPages }: TableStats): number {
  return treeBranchPageCount + treeLeafPageCount + overflowPages
}
