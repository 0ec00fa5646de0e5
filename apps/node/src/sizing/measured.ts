/**
 * Measured figures from which forecasts follow. docs/sizing.md, "Measured figures", says where each figure comes from.
 */
export interface MeasuredSizes {
  /** Bytes on disk of a write in the window, with its share of index and filter. */
  readonly bytesPerWrite: number
  /** Bytes on disk of a key of the state with which a window begins. */
  readonly bytesPerKey: number
  /** Size of the files as a multiple of their size after a merge, while the store is ingested into and pruned. */
  readonly growth: number
}

/** Sizes while the files of a store take at most half of the memory: they are not compressed. */
export const MEASURED: MeasuredSizes = { bytesPerWrite: 84.2, bytesPerKey: 292.5, growth: 1.45 }

/** Sizes of a larger store, whose files of level 2 and above are compressed. */
export const MEASURED_COMPRESSED: MeasuredSizes = { bytesPerWrite: 25.2, bytesPerKey: 97, growth: 1.45 }

/** Bytes of index and filter of each key and of each write: if these are in memory, a look-up reads the disk about once. */
export const INDEX_BYTES_PER_KEY = 2.9
export const INDEX_BYTES_PER_WRITE = 0.8

/** Memory of processes, without the page cache. */
export const SUPERVISOR_BYTES = 80 * 2 ** 20
export const READER_BYTES = 350 * 2 ** 20
export const WRITER_BYTES = 250 * 2 ** 20

/** Writes a second, proven, on two cores. A source that gives fewer decides the rate. */
export const WRITES_PER_SECOND = {
  /** 17,000 versions with 6.6 writes each. */
  backup: 112_200,
  /** 8,240 versions with 6.6 writes each: pages of 100, answers that take 100 ms. */
  node: 54_400,
  /** Entries of a state snapshot. */
  snapshot: 100_000,
  /** Into a store larger than memory: as from a backup, and 5.4 µs more CPU for merges of three more levels, deflated. */
  large: 86_200,
}

/** Memory that the forecasts assume. */
export const SUPPOSED_MEMORY_BYTES = 64 * 2 ** 30

/** Assumed writes of each version of a ledger that was not measured, as on mainnet. */
export const ASSUMED_WRITES_PER_VERSION = 6.6
