import { isLedgerStateError } from '@ledger-state/core'
import { isSystemError } from '@ledger-state/core/files'
import { type MappableFile, type MappedFile, mapFile } from './mapped-file.js'

/** Reads of blocks after which a file is mapped again that could not be: at first, and at most. Each time twice as many. */
const FIRST_PAUSE = 64
const LONGEST_PAUSE = 65_536

/**
 * LMDB's map of a segment file, made when it is first needed: lmdb-js reports mapped bytes to V8 as memory, so each map costs a
 * collection of garbage.
 */
export class SegmentMap {
  readonly #file: MappableFile
  #mapped: MappedFile | undefined
  /** Number of calls of `take` that do not try to map the file. */
  #callsLeft = 0
  #pause = FIRST_PAUSE

  constructor(file: MappableFile) {
    this.#file = file
  }

  /** The segment in memory, if it is mapped. Nobody may read it after `close`. */
  get bytes(): Uint8Array | undefined {
    return this.#mapped?.bytes
  }

  /**
   * Maps the file, unless the system does not allow that: LMDB makes a file next to it, for which a full disk has no room, and
   * takes descriptors and address space. Then blocks are read into the cache, and a later call tries again. Returns `bytes`.
   */
  take(): Uint8Array | undefined {
    if (this.#mapped || this.#callsLeft-- > 0) return this.bytes
    try {
      this.#mapped = mapFile(this.#file)
    } catch (error) {
      // The file may also be gone: a merge removes its inputs.
      this.#callsLeft = mayPass(error) ? this.#pause : Number.POSITIVE_INFINITY
      this.#pause = Math.min(2 * this.#pause, LONGEST_PAUSE)
    }
    return this.bytes
  }

  close(): void {
    this.#callsLeft = Number.POSITIVE_INFINITY
    this.#mapped?.close()
    this.#mapped = undefined
  }
}

/**
 * Whether a file may be mapped later. An error of LMDB is not tried again: if LMDB cannot open a file, lmdb-js 3.5.6 may use
 * memory that it has freed.
 */
function mayPass(error: unknown): boolean {
  return isSystemError(error) || isLedgerStateError(error, 'store_failed', 'store_full')
}
