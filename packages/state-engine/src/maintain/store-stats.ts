import type { LedgerRecord } from '../databases/ledger-record.js'
import type { LmdbStore } from '../lmdb/lmdb-store.js'
import type { TableStats } from '../lmdb/table.js'

export interface StoreStats {
  /** Keys with a record, including those deleted inside the window. */
  readonly keys: number
  /** Superseded values in the log. */
  readonly historyEntries: number
  readonly blocks: number
  /** Bytes of the keys and values kept, without any overhead. */
  readonly payloadBytes: number
  /** Size of the data file. */
  readonly fileBytes: number
  /** The part of the file that is free and will be reused. */
  readonly freeBytes: number
  /** Size up to which the file can grow before every process has to map it again. */
  readonly mapBytes: number
  /** Pages of each database, and its records. */
  readonly databases: Readonly<Record<string, { readonly bytes: number; readonly records: number }>>
  /** Slots of readers in use, and how many there are. */
  readonly readers: { readonly used: number; readonly most: number }
}

const META_PAGES = 2

export function storeStats(store: LmdbStore, record: LedgerRecord | undefined): StoreStats {
  const { root, latest, log, retired, index, large, blocks } = store
  const { lastPageNumber, pageSize, mapSize, maxReaders, numReaders, free } = root.getStats()
  const databases = Object.fromEntries(
    Object.entries({ latest, log, retired, index, large, blocks }).map(([name, table]) => {
      const stats = table.getStats()
      return [name, { bytes: pagesOf(stats) * pageSize, records: stats.entryCount }]
    }),
  )
  const usedBytes = Object.values(databases).reduce((sum, { bytes }) => sum + bytes, 0)
  const fileBytes = (lastPageNumber + 1) * pageSize
  return {
    keys: databases.latest!.records,
    historyEntries: record?.supersededEntries ?? 0,
    blocks: databases.blocks!.records,
    payloadBytes: record?.payloadBytes ?? 0,
    fileBytes,
    freeBytes: Math.max(0, fileBytes - usedBytes - (pagesOf(free) + META_PAGES) * pageSize),
    mapBytes: mapSize,
    databases,
    readers: { used: numReaders, most: maxReaders },
  }
}

function pagesOf({ treeBranchPageCount, treeLeafPageCount, overflowPages }: TableStats): number {
  return treeBranchPageCount + treeLeafPageCount + overflowPages
}
