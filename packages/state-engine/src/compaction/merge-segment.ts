import { addTruncation, type BlockEntry } from '@ledger-state/engine/authoring'
import { highHalf, lowHalf } from '../bytes/numbered-key.js'
import type { RecordBuilder } from '../bytes/record.js'
import { LEDGER_KEY, type LmdbStore } from '../lmdb/lmdb-store.js'
import { NONE, type Segment } from '../memtable/segment.js'
import { appendBlocks } from '../records/block-lists.js'
import { getMerging, putGeneration, putMerging } from '../records/generations.js'
import { decodeLedgerRecord, encodeLedgerRecord, type LedgerRecord, NOTHING_MERGED } from '../records/ledger-record.js'
import { putMark } from '../records/mark.js'
import { getTruncations, putTruncations } from '../records/truncations.js'
import { GenerationWriter } from './generation-writer.js'
import { KeyMerge } from './merge-key.js'
import type { KeysInOrder } from './merge-read-ahead.js'

/** Most writes of one key that are merged in one step: some milliseconds of work. */
const PART_ENTRIES = 1_024

/** Progress of a merge: the place of a key in their order, and the number of its entries that are not merged. */
interface Position {
  readonly key: number
  readonly entriesLeft: number
}

export interface SliceBounds {
  /** Number of keys that are merged in any case, however long it takes. */
  readonly leastKeys?: number
  /** Place in the order of keys before which the slice ends. */
  readonly endKey?: number
  /** Asked after each key whether the slice should end. */
  readonly isEnough?: () => boolean
}

/**
 * Merges a sealed segment in slices, each of them in a write transaction of the caller. After a crash between slices,
 * the next merge of the segment skips what is written already, so no work is lost.
 */
export class SegmentMerge {
  readonly #store: LmdbStore
  readonly #builder: RecordBuilder
  readonly #segment: Segment
  readonly #walFile: number
  /** Progress at the end of the last transaction that was committed. */
  #committed: Position = { key: 0, entriesLeft: 0 }
  #position = this.#committed
  /** Entries of the current key, the newest first. */
  #entries = new Int32Array(PART_ENTRIES)
  #entryCount = 0
  #listedKey = -1

  /** Starts a merge. `walFile` is the number of the WAL file that follows the segment. */
  constructor(store: LmdbStore, builder: RecordBuilder, segment: Segment, walFile: number) {
    this.#store = store
    this.#builder = builder
    this.#segment = segment
    this.#walFile = walFile
  }

  /**
   * Merges for about `budgetMs` milliseconds, in the transaction of the caller. Returns whether the segment is merged;
   * then its blocks and the ledger record are written, too. If the transaction is run again, call it again.
   * @throws `store_corrupt`
   */
  slice(budgetMs: number, { leastKeys = 0, endKey = Number.POSITIVE_INFINITY, isEnough }: SliceBounds = {}): boolean {
    const deadline = performance.now() + budgetMs
    const bytes = this.#store.meta.getBinary(LEDGER_KEY)
    const before = bytes ? decodeLedgerRecord(bytes) : this.#emptyLedger()
    // The last slice was committed earlier, and the file could not be removed.
    if (before.nextCommit > this.#segment.head!.number) return true
    const merging = getMerging(this.#store)
    const output = new GenerationWriter(this.#store, this.#builder, before, merging)
    const { oldestVersion } = before.ledger
    const keyMerge = new KeyMerge(this.#store, this.#builder, output, highHalf(oldestVersion), lowHalf(oldestVersion))
    const heads = this.#segment.sortedHeads()
    this.#position = this.#committed
    while (this.#position.key < Math.min(heads.length, endKey)) {
      this.#mergePart(keyMerge, heads[this.#position.key]!)
      if (isEnough?.() || (this.sliceKeys >= leastKeys && performance.now() >= deadline)) break
    }
    output.flush()
    const counted = {
      ...before,
      nextHistoryNumber: output.nextHistoryNumber,
      nextLargeId: output.nextLargeId,
      garbageRecords: before.garbageRecords + output.garbage.count - (merging?.garbageRecords ?? 0),
      supersededEntries: before.supersededEntries + output.pairs - (merging?.pairs ?? 0),
      payloadBytes: before.payloadBytes + keyMerge.payloadBytes,
    }
    const isWhole = this.#position.key >= heads.length
    if (isWhole) this.#finish(counted, output)
    else this.#putProgress(counted, output)
    return isWhole
  }

  /** Records that the transaction of a slice was committed. Call it after each. */
  sliceCommitted(): void {
    this.#committed = this.#position
  }

  /** Place in the order of keys of the first key of the next slice. */
  get nextKey(): number {
    return this.#committed.key
  }

  /** The keys in their order. */
  get keys(): KeysInOrder {
    const segment = this.#segment
    const heads = segment.sortedHeads()
    return {
      count: heads.length,
      at: (place) => segment.bytes.subarray(segment.keyStart(heads[place]!), segment.keyEnd(heads[place]!)),
    }
  }

  /** Number of keys that the current slice has merged. */
  get sliceKeys(): number {
    return this.#position.key - this.#committed.key
  }

  /** Share of the keys that is merged. */
  get progress(): number {
    return this.#committed.key / this.#segment.keyCount
  }

  /** Merges everything in one transaction of the caller. */
  mergeWhole(): void {
    this.slice(Number.POSITIVE_INFINITY)
  }

  /** Merges the next writes of the current key. */
  #mergePart(keyMerge: KeyMerge, head: number): void {
    const { key, entriesLeft } = this.#position
    if (this.#listedKey !== key) this.#listEntries(key, head)
    const end = entriesLeft > 0 ? entriesLeft : this.#entryCount
    const first = Math.max(0, end - PART_ENTRIES)
    keyMerge.merge(this.#segment, this.#entries, first, end)
    this.#position = first > 0 ? { key, entriesLeft: first } : { key: key + 1, entriesLeft: 0 }
  }

  #listEntries(key: number, head: number): void {
    let count = 0
    for (let entry = head; entry !== NONE; entry = this.#segment.older(entry)) {
      if (count === this.#entries.length) {
        const larger = new Int32Array(2 * count)
        larger.set(this.#entries)
        this.#entries = larger
      }
      this.#entries[count++] = entry
    }
    this.#listedKey = key
    this.#entryCount = count
  }

  /** The ledger record of an empty store, whose window begins with the segment. */
  #emptyLedger(): LedgerRecord {
    const { blocks, firstVersion, head } = this.#segment
    const { chainId, latestVersion, latestBlock } = head!
    const oldest = { oldestVersion: firstVersion, oldestBlock: blocks.at(0).block }
    return {
      ledger: { chainId, latestVersion, latestBlock, ...oldest },
      base: { version: firstVersion, complete: firstVersion === 0n },
      walFile: this.#walFile,
      nextCommit: head!.number,
      ...NOTHING_MERGED,
    }
  }

  #putProgress(record: LedgerRecord, output: GenerationWriter): void {
    putMerging(this.#store, this.#builder, output.generation(0n))
    this.#putLedger(record)
  }

  #finish(record: LedgerRecord, output: GenerationWriter): void {
    const { latestVersion, latestBlock, mark, number } = this.#segment.head!
    const generation = output.generation(latestVersion)
    const isEmpty = generation.endNumber === generation.firstNumber && generation.garbageRecords === 0
    if (!isEmpty) putGeneration(this.#store, this.#builder, record.nextGeneration, generation)
    putMerging(this.#store, this.#builder, undefined)
    putMark(this.#store, this.#builder, mark)
    this.#putTruncations()
    this.#putLedger({
      ...record,
      ledger: { ...record.ledger, latestVersion, latestBlock },
      walFile: this.#walFile,
      nextCommit: number + 1,
      nextGeneration: record.nextGeneration + (isEmpty ? 0 : 1),
      blocks: record.blocks + appendBlocks(this.#store, this.#builder, this.#blocksFrom(record.ledger.oldestVersion)),
    })
  }

  #putTruncations(): void {
    const { truncations } = this.#segment
    if (truncations.length === 0) return
    putTruncations(this.#store, this.#builder, truncations.reduce(addTruncation, getTruncations(this.#store)))
  }

  *#blocksFrom(oldestVersion: bigint): Generator<BlockEntry> {
    const { blocks } = this.#segment
    for (let place = 0; place < blocks.count; place++) {
      const entry = blocks.at(place)
      if (entry.firstVersion >= oldestVersion) yield entry
    }
  }

  #putLedger(record: LedgerRecord): void {
    this.#store.meta.putSync(LEDGER_KEY, encodeLedgerRecord(this.#builder, record))
  }
}
