/**
 * Share of the memory that an ingest takes for commits that are not merged yet. A reader that opens the store during the
 * ingest takes as much.
 */
const TABLE_SHARE = 1 / 16
const LEAST_TABLE_BYTES = 2 ** 26
/** Most bytes of the memtable. A larger one makes larger segment files, which are merged less often. */
const MOST_TABLE_BYTES = 2 ** 29

/** Bytes that an ingest takes for commits that are not merged, while no one waits for it: 64 to 512 MiB. */
export function ingestTableBytes(memoryBytes: number): number {
  return Math.min(MOST_TABLE_BYTES, Math.max(LEAST_TABLE_BYTES, Math.floor(memoryBytes * TABLE_SHARE)))
}
