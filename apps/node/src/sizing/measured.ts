/**
 * Measured figures from which forecasts follow. docs/sizing.md, "Measured figures", says where each figure comes from.
 */
export interface MeasuredSizes {
  /**
   * Bytes on disk of a write in the window that superseded another one, with its share of the index, before a copy with
   * --compact.
   */
  readonly bytesPerWrite: number
  /** Bytes on disk of a key of the newest state. */
  readonly bytesPerKey: number
  /** Size of the file as a multiple of the pages in use, while it is ingested into and pruned. */
  readonly freePages: number
}

export const MEASURED: MeasuredSizes = { bytesPerWrite: 61, bytesPerKey: 533, freePages: 1.05 }

/**
 * Bytes of inner pages of the B-tree for each key. If these are in memory, a look-up reads the disk once for each tree.
 */
export const INNER_BYTES_PER_KEY = 20

/** Memory of processes, without the page cache. */
export const SUPERVISOR_BYTES = 80 * 2 ** 20
export const READER_BYTES = 350 * 2 ** 20
export const WRITER_BYTES = 250 * 2 ** 20

/** Writes a second, proven, on two cores. A source that gives fewer decides the rate. */
export const WRITES_PER_SECOND = {
  /** 9,450 versions with 6.6 writes each. */
  backup: 62_400,
  /** 8,240 versions with 6.6 writes each: pages of 100, answers that take 100 ms. */
  node: 54_400,
  /** Entries of a state snapshot. */
  snapshot: 100_000,
  /**
   * Rate into a store that is larger than memory, on a disk that answers in 60 µs, if a process has threads to read
   * ahead.
   */
  beyondMemory: 10_400,
}

/** Memory that the forecast times assume. */
export const SUPPOSED_MEMORY_BYTES = 64 * 2 ** 30

/** Assumed writes of each version of a ledger that was not measured, as on mainnet. */
export const ASSUMED_WRITES_PER_VERSION = 6.6
