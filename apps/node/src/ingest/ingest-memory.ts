/** The share of the memory that an ingest takes for what is not merged yet. A reader that opens the store meanwhile takes as much. */
const TABLE_SHARE = 1 / 16
const LEAST_TABLE_BYTES = 2 ** 26
/** A page is written once for all writes of it that are merged together: more memory, fewer pages. */
const MOST_TABLE_BYTES = 2 ** 29

/** How much memory an ingest, which nobody waits for, takes for commits that are not merged: 64 to 512 MiB. */
export function ingestTableBytes(memoryBytes: number): number {
  return Math.min(MOST_TABLE_BYTES, Math.max(LEAST_TABLE_BYTES, Math.floor(memoryBytes * TABLE_SHARE)))
}
