import { LedgerHasher } from '@ledger-state/proof'
import type { LeavesFile } from './leaves-file.js'
import { RootRange } from './root-range.js'
import { RootThreads } from './root-threads.js'
import { DEFAULT_ROOT_MEMORY } from './state-root.js'

/** Options of the ranges of a ledger. */
export interface RootRangesOptions {
  /** The word before the name of each hash. */
  readonly hashSalt: string
  /** An existing folder for temporary files. */
  readonly folder: string
  /** Bytes of hashed writes in memory before files are written; 1 GiB by default. */
  readonly memoryBytes?: number | undefined
  /** Threads that hash; by default the number of cores, and none on one core. */
  readonly threads?: number | undefined
  readonly signal?: AbortSignal | undefined
  /** Waits until the work may continue. It is called before each part. */
  readonly pace?: (() => Promise<void>) | undefined
}

/** Ranges of versions whose roots are computed one after the other, with the same threads. */
export interface RootRanges {
  /**
   * Begins a range.
   * @param base the state before the range; undefined if it is empty
   * @param writes number of writes that the range may have
   * @param cutDepth depth of the cuts that are asked for, at most `MOST_CUT_DEPTH`; by default none are, and the keys
   * are forgotten
   */
  begin(base: LeavesFile | undefined, writes: number, cutDepth?: number): RootRange
  /** Ends the threads. */
  close(): Promise<void>
}

/** Starts the threads for ranges. */
export function openRootRanges({
  hashSalt,
  threads,
  memoryBytes,
  folder,
  signal,
  pace,
}: RootRangesOptions): RootRanges {
  const pool = new RootThreads(hashSalt, threads)
  const hasher = new LedgerHasher(hashSalt)
  const options = { threads: pool, hasher, folder, signal, pace, memoryBytes: memoryBytes ?? DEFAULT_ROOT_MEMORY }
  return {
    begin: (base, writes, cutDepth) => new RootRange({ ...options, base, writes, cutDepth }),
    close: () => pool.close(),
  }
}
