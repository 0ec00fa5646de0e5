import { linkSync, rmSync } from 'node:fs'
import { copyFile } from 'node:fs/promises'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { bytesToLatin1 } from '@ledger-state/core/bytes'
import { syncFile } from '@ledger-state/core/files'
import { codecOfLevel } from '../compaction/codec-of-level.js'
import { runInTurns } from '../compaction/run-in-turns.js'
import { writeSegments } from '../compaction/write-segments.js'
import { invalidArgumentErrors } from '../errors.js'
import { withStoreErrorsAsync } from '../lmdb/store-errors.js'
import { newestInSlices, type SegmentSlice, toSlice } from '../read/segment-slices.js'
import { BlockCache } from '../segments/block-cache.js'
import { SegmentMatch } from '../segments/block-search.js'
import { DELETED } from '../segments/entry-reader.js'
import { PRESENT } from '../segments/found.js'
import { createKeyProbe, type KeyProbe } from '../segments/key-filter.js'
import { mergeSegments } from '../segments/merge-segments.js'
import { rowOf } from '../segments/named-segment.js'
import { SegmentCursor } from '../segments/segment-cursor.js'
import { SegmentLists } from '../segments/segment-lists.js'
import { SegmentReader } from '../segments/segment-reader.js'
import type { SegmentSink } from '../segments/split-writer.js'
import type { Assembly } from './assembly.js'
import type { PlacedSegment } from './create-store.js'
import type { StoreSegment, StoreSegments } from './store-segments.js'

/** Bytes of blocks in memory while keys are looked up. */
const CACHE_BYTES = 2 ** 25
const ENTRIES_BETWEEN_TURNS = 4_096

/** Callbacks for the progress of a join, and a signal that stops it. */
export interface JoinOptions {
  /** Called with the bytes of the files that are joined so far, and of all. */
  readonly onProgress?: ((bytes: number, total: number) => void) | undefined
  readonly signal?: AbortSignal | undefined
}

/**
 * Puts the files of parts (`WriterOptions.part`) with consecutive versions into a folder, as links if they are on the
 * same disk. Deletions of keys that no earlier part has are left out, as a commit to one store leaves them out; only
 * then is a file written again. They stay if the first part does not begin with a known state: the result is then a
 * part, too. It reads all blocks of all files, and compares them with their checksums.
 * @throws `invalid_argument` if the stores do not follow each other, or have ids of segments that differ; `store_corrupt`
 */
export async function joinStores(
  assembly: Assembly,
  stores: readonly StoreSegments[],
  options: JoinOptions = {},
): Promise<readonly PlacedSegment[]> {
  expectSuccessive(stores)
  return await withStoreErrorsAsync(assembly.folder, () => new Join(assembly, stores, options).run())
}

function expectSuccessive(stores: readonly StoreSegments[]): void {
  for (const [at, { segmentsId, ledger, files }] of stores.entries()) {
    if (segmentsId !== stores[0]!.segmentsId) throw invalidArgumentErrors.otherSegments(files[0]!.path)
    const before = stores[at - 1]?.ledger.latestVersion
    if (before !== undefined && ledger.oldestVersion !== before + 1n) {
      throw invalidArgumentErrors.notSuccessive(before, ledger.oldestVersion)
    }
  }
}

/** A file of a store, open under its number in the folder. */
interface OpenFile extends PlacedSegment {
  readonly slice: SegmentSlice
}

class Join {
  readonly #assembly: Assembly
  readonly #stores: readonly StoreSegments[]
  readonly #options: JoinOptions
  readonly #cache = new BlockCache(CACHE_BYTES)
  readonly #probe: KeyProbe
  readonly #match = new SegmentMatch()
  readonly #placed: PlacedSegment[] = []
  /** Files so far, the newest first. */
  #slices: SegmentSlice[] = []
  #nextFile = 0
  #doneBytes = 0

  constructor(assembly: Assembly, stores: readonly StoreSegments[], options: JoinOptions) {
    this.#assembly = assembly
    this.#stores = stores
    this.#options = options
    this.#probe = createKeyProbe(stores[0]!)
  }

  async run(): Promise<readonly PlacedSegment[]> {
    this.#assembly.keepOnly(new Set())
    try {
      for (const { files } of this.#stores) {
        // Numbers of the files of one segment follow each other in the order of keys.
        for (const segment of Map.groupBy(files, ({ firstVersion }) => firstVersion).values()) {
          await this.#addSegment(segment)
        }
      }
      return this.#placed
    } finally {
      for (const { reader } of this.#slices) reader.close()
    }
  }

  async #addSegment(files: readonly StoreSegment[]): Promise<void> {
    const opened: OpenFile[] = []
    const unknown = new Set<string>()
    for (const { path, until } of files) {
      const file = this.#nextFile++
      await linkOrCopy(path, this.#assembly.segmentPath(file))
      const slice = this.#open(file, until)
      opened.push({ file, until, slice })
      // A key that continues in the next file of the segment is found there.
      this.#slices.unshift(slice)
      await this.#verify(slice, unknown)
      this.#progress(slice.reader.file.fileBytes)
    }
    if (unknown.size > 0) await this.#writeAgain(opened, unknown)
    else this.#placed.push(...opened.map(({ file, until }) => ({ file, until })))
  }

  /**
   * Reads a file, and finds keys whose first write is a deletion although no earlier file has a value of them. If the first
   * store is a part, too, an even earlier one may have it.
   */
  async #verify(slice: SegmentSlice, unknown: Set<string>): Promise<void> {
    const isWhole = this.#stores[0]!.base.complete
    const older = this.#slices.filter((other) => other !== slice)
    const cursor = new SegmentCursor(slice.reader, { checksContent: true })
    for (let entries = 1; cursor.next(); entries++) {
      const { entry } = cursor
      if (isWhole && cursor.isNewKey && entry.ends[0] === DELETED) {
        const key = cursor.key.copy()
        if (newestInSlices(older, this.#probe.take(key), this.#match) !== PRESENT) unknown.add(bytesToLatin1(key))
      }
      if (entries % ENTRIES_BETWEEN_TURNS === 0) await this.#pause()
    }
  }

  /** Writes a segment again without the first write of some keys, which is a deletion. */
  async #writeAgain(opened: readonly OpenFile[], unknown: ReadonlySet<string>): Promise<void> {
    const { folder } = this.#assembly
    const { firstVersion, lastVersion, level, isBase } = opened[0]!.slice.row
    const slices = opened.map(({ slice, until }) => ({ reader: slice.reader, until }))
    const { segmentsId } = this.#stores[0]!
    const place = { firstVersion, lastVersion, level, isBase, file: this.#nextFile }
    const steps = writeSegments(
      { path: folder, segmentsId, isSynced: true },
      place,
      codecOfLevel(level, 0, 'always'),
      (sink) => mergeSegments(slices, withoutFirst(sink, unknown), { firstVersion }),
    )
    const { rows: written } = await runInTurns(steps, () => this.#options.signal?.throwIfAborted())
    this.#nextFile += written.length
    const { until } = opened[0]!
    this.#slices.splice(0, opened.length)
    for (const { file, slice } of opened) {
      slice.reader.close()
      rmSync(this.#assembly.segmentPath(file))
    }
    for (const { file } of written) {
      this.#slices.unshift(this.#open(file, until))
      this.#placed.push({ file, until })
    }
  }

  #open(file: number, until: bigint): SegmentSlice {
    const reader = new SegmentReader(this.#assembly.segmentPath(file), { cache: this.#cache, isMapped: true })
    return toSlice(rowOf(reader, file, until), { reader, lists: new SegmentLists(reader) })
  }

  #progress(bytes: number): void {
    this.#doneBytes += bytes
    const total = this.#stores.reduce((sum, { files }) => sum + files.reduce((some, file) => some + file.bytes, 0), 0)
    this.#options.onProgress?.(this.#doneBytes, total)
  }

  async #pause(): Promise<void> {
    await nextTurn()
    this.#options.signal?.throwIfAborted()
  }
}

/** A sink that leaves out the first write of some keys. */
function withoutFirst(sink: SegmentSink, keys: ReadonlySet<string>): SegmentSink {
  let key: [bytes: Uint8Array, start: number, end: number] | undefined
  let isFirst = false
  return {
    beginKey: (...begun) => {
      key = begun
      isFirst = true
    },
    add: (...write) => {
      const isLeftOut = isFirst && keys.has(bytesToLatin1(key![0].subarray(key![1], key![2])))
      isFirst = false
      if (isLeftOut) return
      // Only now: a key has one write at least.
      if (key) sink.beginKey(...key)
      key = undefined
      sink.add(...write)
    },
    addBlock: (entry) => sink.addBlock(entry),
  }
}

/** The files never change, so a link is as good as a copy. The writer of a store may not have synced them. */
async function linkOrCopy(from: string, to: string): Promise<void> {
  try {
    linkSync(from, to)
  } catch {
    // On another disk, or a disk without links.
    await copyFile(from, to)
  }
  await syncFile(to)
}
