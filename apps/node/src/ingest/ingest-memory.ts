/** The share of the memory that an ingest takes for what is not merged yet. A reader that opens the store meanwhile takes as much. */
const TABLE_SHARE = 1 / 16
const LEAST_TABLE_BYTES = 2 ** 26
/** The most of it: with eight times as many writes in memory, more of them are of one page, which is written once for all. */
const MOST_TABLE_BYTES = 2 ** 29

/** How much memory an ingest, which nobody waits for, takes for commits that are not merged: 64 to 512 MiB. */
export function ingestTableBytes(memoryBytes: number): number {
  return Math.min(MOST_TABLE_BYTES, Math.max(LEAST_TABLE_BYTES, Math.floor(memoryBytes * TABLE_SHARE)))
}
