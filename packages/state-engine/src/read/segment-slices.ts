import { isLedgerStateError } from '@ledger-state/core'
import { isPresent } from '@ledger-state/core/files'
import { highHalf, lowHalf } from '../bytes/version-halves.js'
import { storeCorruptErrors } from '../errors.js'
import type { LmdbStore } from '../lmdb/lmdb-store.js'
import type { SegmentRow } from '../records/segment-rows.js'
import { BlockCache } from '../segments/block-cache.js'
import type { SegmentMatch } from '../segments/block-search.js'
import { ABSENT, type Found } from '../segments/found.js'
import type { KeyProbe } from '../segments/key-filter.js'
import { openNamedSegment } from '../segments/named-segment.js'
import { SegmentLists } from '../segments/segment-lists.js'
import { segmentPath } from '../segments/segment-names.js'
import type { SegmentReader } from '../segments/segment-reader.js'
import { VerifyEpochs } from '../segments/verify-epochs.js'

interface OpenSegment {
  readonly reader: SegmentReader
  readonly lists: SegmentLists
}

/** A segment file, as far as a state of the store has it. */
export interface SegmentSlice extends OpenSegment {
  readonly row: SegmentRow
  readonly firstHigh: number
  readonly firstLow: number
  /** Newest version that is left, less the first. */
  readonly most: number
}

export function toSlice(row: SegmentRow, opened: OpenSegment): SegmentSlice {
  const { firstVersion, until } = row
  const first = { firstHigh: highHalf(firstVersion), firstLow: lowHalf(firstVersion) }
  return { row, ...opened, ...first, most: Number(until - firstVersion) }
}

export const NO_SLICES: readonly SegmentSlice[] = []

/** Finds the newest write of a key, of all versions. The slices are the newest first. @throws `store_corrupt` */
export function newestInSlices(slices: readonly SegmentSlice[], probe: KeyProbe, match: SegmentMatch): Found {
  for (const { reader, most } of slices) {
    const found = reader.find(probe, most, match)
    if (found !== ABSENT) return found
  }
  return ABSENT
}

/** The newest version of a slice up to a version given as halves, less the first of its file; negative if there is none. */
export function versionInSlice({ firstHigh, firstLow, most }: SegmentSlice, high: number, low: number): number {
  const version = (high - firstHigh) * 2 ** 32 + (low - firstLow)
  return version < most ? version : most
}

/** Bytes of blocks in memory if files are not mapped. */
const CACHE_BYTES = 2 ** 26
/**
 * Bytes of memory for the indexes and filters of a process, about a hundredth of its segment files. A later damage of a
 * file cannot hide a key from a process that has them in memory.
 */
const INDEX_BYTES = 2 ** 27
/**
 * Time for which reads get the error of a damaged file without opening it again: to map and verify the index of 1,000,000 keys
 * takes 1.3 to 7 ms of CPU, a look-up 5 µs.
 */
const DAMAGED_MS = 1_000
/** Name of the variable with which tests read files without a map. */
const UNMAPPED_VARIABLE = 'LEDGER_STATE_UNMAPPED'

/** The segment files of a store that are open. */
export class SegmentFiles {
  readonly #store: LmdbStore
  readonly #cache = new BlockCache(CACHE_BYTES)
  readonly #indexMemory = { bytesLeft: INDEX_BYTES }
  readonly #epochs = new VerifyEpochs()
  readonly #isMapped = process.env[UNMAPPED_VARIABLE] === undefined
  readonly #open = new Map<number, OpenSegment>()
  /** The last file that was found to be damaged. */
  #damaged: { readonly file: number; readonly error: Error; readonly until: number } | undefined

  constructor(store: LmdbStore) {
    this.#store = store
  }

  /**
   * Opens the files of a state, the newest first. Returns the number of a file that is gone, if there is one: then the
   * store has a newer state. @throws `store_corrupt`
   */
  take(rows: readonly SegmentRow[]): readonly SegmentSlice[] | number {
    if (this.#store.verifyReads) this.#epochs.begin()
    const slices: SegmentSlice[] = []
    for (const row of rows.toReversed()) {
      const opened = this.#open.get(row.file) ?? this.#openFile(row)
      if (!opened) return row.file
      slices.push(toSlice(row, opened))
    }
    return slices
  }

  /**
   * Reports a file that `take` did not find.
   * @throws `store_missing` if the folder was moved or replaced, otherwise `store_corrupt`
   */
  failMissing(file: number): never {
    this.#store.expectInPlace()
    throw storeCorruptErrors.fileDamaged(segmentPath(this.#store.path, file), 0, 'the file is missing')
  }

  /** Closes all files but the files of one state, the only one that is read afterwards. */
  keep(slices: readonly SegmentSlice[]): void {
    const kept = new Set(slices.map(({ row }) => row.file))
    for (const [file, { reader }] of this.#open) {
      if (kept.has(file)) continue
      reader.close()
      this.#open.delete(file)
    }
  }

  #openFile(row: SegmentRow) {
    const damaged = this.#damaged
    if (damaged?.file === row.file && performance.now() < damaged.until) throw damaged.error
    try {
      const reader = openNamedSegment(this.#store, row, {
        cache: this.#cache,
        isMapped: this.#isMapped,
        // A writer reads no block of most of its files before they are merged.
        mapsAtOnce: this.#store.readOnly,
        indexMemory: this.#indexMemory,
        epochs: this.#epochs,
      })
      const opened = { reader, lists: new SegmentLists(reader) }
      this.#open.set(row.file, opened)
      return opened
    } catch (error) {
      // A merge may remove it at any moment.
      if (!isPresent(segmentPath(this.#store.path, row.file))) return undefined
      if (isLedgerStateError(error, 'store_corrupt'))
        this.#damaged = { file: row.file, error, until: performance.now() + DAMAGED_MS }
      throw error
    }
  }
}
