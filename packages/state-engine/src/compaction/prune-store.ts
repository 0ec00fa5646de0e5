import type { Buffer } from 'node:buffer'
import { type BlockEntry, PRUNE_STEP_RECORDS } from '@ledger-state/engine/authoring'
import { type NumberedKey, numberedKey, numberedKeySeed } from '../bytes/numbered-key.js'
import { openRecord, type RecordBuilder } from '../bytes/record.js'
import { LEDGER_KEY, type LmdbStore } from '../lmdb/lmdb-store.js'
import { SharedRecord } from '../lmdb/shared-record.js'
import { removeBlocksBelow } from '../records/block-lists.js'
import { decodeGarbage, type GarbageEntry } from '../records/garbage-list.js'
import { type Generation, listGenerations, putGeneration } from '../records/generations.js'
import { dropLarge } from '../records/large-values.js'
import { DELETED, decodeLatest } from '../records/latest-record.js'
import { decodeLedgerRecord, encodeLedgerRecord, type LedgerRecord } from '../records/ledger-record.js'

export interface PruneStep {
  /** Number of superseded values and deletions that were dropped. */
  readonly dropped: number
  readonly done: boolean
}

/**
 * Has the window begin with a block, within the transaction of the caller. The block may be above what is merged. From
 * then on readers refuse versions below it.
 */
export function raiseOldest(
  store: LmdbStore,
  builder: RecordBuilder,
  { firstVersion: oldestVersion, block: oldestBlock }: BlockEntry,
  droppedBlocks = 0,
): void {
  const record = decodeLedgerRecord(store.meta.getBinary(LEDGER_KEY)!)
  if (oldestVersion <= record.ledger.oldestVersion) return
  const ledger = { ...record.ledger, oldestVersion, oldestBlock }
  store.meta.putSync(
    LEDGER_KEY,
    encodeLedgerRecord(builder, { ...record, ledger, blocks: record.blocks - droppedBlocks }),
  )
}

/** Drops a bounded part of what no version of the window can see, within the transaction of the caller. */
export function pruneStep(store: LmdbStore, builder: RecordBuilder): PruneStep {
  const record = decodeLedgerRecord(store.meta.getBinary(LEDGER_KEY)!)
  const { oldestVersion } = record.ledger
  const removed = removeBlocksBelow(store, builder, oldestVersion, PRUNE_STEP_RECORDS)
  const dropper = new GenerationDropper(store, builder)
  const ended = endedGenerations(store, oldestVersion)
  for (const { number, generation } of ended) {
    dropper.drop(number, generation)
    if (dropper.isTired) break
  }
  if (removed.blocks + dropper.steps > 0) {
    const left: LedgerRecord = {
      ...record,
      blocks: record.blocks - removed.blocks,
      garbageRecords: record.garbageRecords - dropper.garbageRecords,
      supersededEntries: record.supersededEntries - dropper.pairs,
      payloadBytes: record.payloadBytes - dropper.payloadBytes,
    }
    store.meta.putSync(LEDGER_KEY, encodeLedgerRecord(builder, left))
  }
  return {
    dropped: dropper.pairs + dropper.deletions,
    done: !dropper.isTired && removed.done,
  }
}

/** Generations that no version of the window sees, the oldest first, as many as a step may drop. */
function endedGenerations(store: LmdbStore, oldestVersion: bigint) {
  const ended: { number: number; generation: Generation }[] = []
  for (const found of listGenerations(store)) {
    if (found.generation.upTo > oldestVersion || ended.length > PRUNE_STEP_RECORDS) break
    ended.push(found)
  }
  return ended
}

/** Drops generations, the oldest first, until a step's work is done. */
class GenerationDropper {
  /** Number of records and entries that were dropped. */
  steps = 0
  /** Number of superseded values that were dropped. */
  pairs = 0
  /** Number of deleted keys that were forgotten. */
  deletions = 0
  /** Number of records of the garbage list that were dropped. */
  garbageRecords = 0
  /** Number of bytes of payload that were dropped. */
  payloadBytes = 0
  readonly #store: LmdbStore
  readonly #builder: RecordBuilder
  readonly #latestRecord = new SharedRecord()

  constructor(store: LmdbStore, builder: RecordBuilder) {
    this.#store = store
    this.#builder = builder
  }

  get isTired(): boolean {
    return this.steps >= PRUNE_STEP_RECORDS
  }

  /** Drops a generation, or the first part of it. */
  drop(number: number, generation: Generation): void {
    let left = this.#dropHistory(generation)
    if (left.firstNumber === left.endNumber) left = this.#dropGarbage(number, left)
    if (left.firstNumber < left.endNumber || left.garbageRecords > 0)
      putGeneration(this.#store, this.#builder, number, left)
    else this.#store.generations.removeSync(number)
  }

  /**
   * Drops records of the history log without reading them, which would double the cost. The numbers of values and bytes
   * that are left are estimated from the share of the records.
   */
  #dropHistory(generation: Generation): Generation {
    const count = generation.endNumber - generation.firstNumber
    let { firstNumber } = generation
    for (; firstNumber < generation.endNumber && !this.isTired; firstNumber++) {
      this.steps++
      this.#store.historyLog.removeSync(firstNumber)
    }
    const left = count > 0 ? (generation.endNumber - firstNumber) / count : 0
    const pairs = Math.round(left * generation.pairs)
    const payloadBytes = Math.round(left * generation.payloadBytes)
    this.pairs += generation.pairs - pairs
    this.payloadBytes += generation.payloadBytes - payloadBytes
    return { ...generation, firstNumber, pairs, payloadBytes }
  }

  #dropGarbage(number: number, generation: Generation): Generation {
    let { garbageRecords } = generation
    const range = { start: numberedKey(number, 0), end: numberedKey(number + 1, 0), limit: PRUNE_STEP_RECORDS }
    for (const { key, value } of [...this.#store.garbage.getRange(range)]) {
      if (this.isTired) break
      if (this.#dropEntries(key, value, generation)) garbageRecords--
    }
    this.garbageRecords += generation.garbageRecords - garbageRecords
    return { ...generation, garbageRecords }
  }

  /**
   * Drops what a record of the garbage list names, from its beginning on. Returns whether that is everything; otherwise
   * the record keeps the rest.
   */
  #dropEntries(key: NumberedKey, record: Buffer, { upTo }: Generation): boolean {
    const content = openRecord(record, numberedKeySeed(key), () => 'a record of the database garbage')
    let start = 0
    for (const entry of decodeGarbage(content)) {
      if (this.isTired) break
      this.#dropEntry(entry, upTo)
      start = entry.end
    }
    if (start === content.length) {
      this.#store.garbage.removeSync(key)
      return true
    }
    const left = this.#builder.begin().bytes(content.subarray(start)).seal(numberedKeySeed(key))
    this.#store.garbage.putSync(key, left)
    return false
  }

  #dropEntry(entry: GarbageEntry, upTo: bigint): void {
    if (entry.kind === 'deletion') {
      this.steps++
      // Entries above the generation's versions were cut off by a truncation: another version may have deleted the key
      // under that number.
      if (entry.version <= upTo) this.#forget(entry.storedKey, entry.version)
    } else {
      this.steps += dropLarge(this.#store, entry.large)
    }
  }

  /** Forgets a key, unless it was written again after it was deleted. */
  #forget(storedKey: Uint8Array, version: bigint): void {
    const record = this.#latestRecord
    if (!record.load(this.#store.latestByStoredKey, storedKey, {})) return
    if (!(record.bytes[0]! & DELETED) || record.view.getBigUint64(2) !== version) return
    const { longKey } = decodeLatest(record)
    this.#store.latestByStoredKey.removeSync(storedKey)
    if (longKey) dropLarge(this.#store, longKey)
    this.payloadBytes += longKey ? longKey.length : storedKey.length - 1
    this.deletions++
  }
}
