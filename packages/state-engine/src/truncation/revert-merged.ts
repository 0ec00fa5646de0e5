import { keyAfter } from '@ledger-state/core/bytes'
import type { RecordBuilder } from '../bytes/record.js'
import { prefixToStoredEnd, prefixToStoredStart } from '../bytes/stored-key.js'
import { GenerationList } from '../compaction/generation-list.js'
import { GenerationWriter } from '../compaction/generation-writer.js'
import { LEDGER_KEY, type LmdbStore } from '../lmdb/lmdb-store.js'
import { type RemovedBlocks, removeBlocksAbove } from '../records/block-lists.js'
import { getMerging, putGeneration, putMerging } from '../records/generations.js'
import { decodeLedgerRecord, encodeLedgerRecord, type LedgerRecord } from '../records/ledger-record.js'
import { putReverting } from '../records/truncations.js'
import { KeyRevert } from './revert-key.js'

/** Number of keys that are listed at a time. */
const PAGE_KEYS = 256
const MOST_LISTS = 2_000
const NO_BLOCKS: RemovedBlocks = { blocks: 0, done: false }
const NO_KEY = new Uint8Array(0)
const FIRST = prefixToStoredStart(NO_KEY)
const END = prefixToStoredEnd(NO_KEY)

/**
 * Removes merged versions above the latest of the ledger record, in slices, each in a write transaction of the caller.
 * Reads do not see these versions anyway, but commits wait until they are removed. There is no list of the keys that
 * they wrote, so all keys are looked at. After a crash between slices, the keys are looked at again, and no other work
 * is lost.
 */
export class MergedRevert {
  readonly #store: LmdbStore
  readonly #builder: RecordBuilder
  /** First key to look at, as of the last transaction that was committed; undefined once all keys were looked at. */
  #committed: Uint8Array | undefined = FIRST
  #next = this.#committed

  constructor(store: LmdbStore, builder: RecordBuilder) {
    this.#store = store
    this.#builder = builder
  }

  /**
   * Removes records for about `budgetMs` milliseconds, in the transaction of the caller. Returns whether none is left;
   * then `finish` follows. If the transaction is run again, call it again.
   * @throws `store_corrupt`
   */
  slice(budgetMs: number): boolean {
    const store = this.#store
    const deadline = performance.now() + budgetMs
    const before = this.#readLedger()
    const merging = getMerging(store)
    const output = new GenerationWriter(store, this.#builder, before, merging)
    const { latestVersion: version, oldestVersion } = before.ledger
    const generations = new GenerationList(store, this.#builder, before.nextGeneration, version)
    const revert = new KeyRevert({ store, builder: this.#builder, output, generations, version, oldestVersion })
    this.#next = this.#committed
    do this.#revertPage(revert, deadline)
    while (this.#next && performance.now() < deadline)
    const removed = this.#next ? NO_BLOCKS : removeBlocksAbove(store, this.#builder, version, MOST_LISTS)
    output.flush()
    generations.put()
    putMerging(store, this.#builder, output.generation(0n))
    this.#putLedger({
      ...before,
      nextLargeId: output.nextLargeId,
      blocks: before.blocks - removed.blocks,
      garbageRecords: before.garbageRecords + output.garbage.count - (merging?.garbageRecords ?? 0),
      supersededEntries: before.supersededEntries - revert.takenPairs,
      payloadBytes: before.payloadBytes + revert.payloadBytes,
    })
    return removed.done
  }

  /**
   * Ends the truncation in the transaction of the caller, when no record is left to remove. From then on, commits go to
   * another file, so that no process reads them together with the records that were removed.
   */
  finish({ walFile, nextCommit }: Pick<LedgerRecord, 'walFile' | 'nextCommit'>): void {
    const store = this.#store
    const before = this.#readLedger()
    const { nextGeneration, ledger } = before
    const generations = new GenerationList(store, this.#builder, nextGeneration, ledger.latestVersion)
    generations.endAt(ledger.latestVersion)
    generations.put()
    const written = getMerging(store)
    const isKept = written !== undefined && written.garbageRecords > 0
    if (isKept) putGeneration(store, this.#builder, nextGeneration, { ...written, upTo: ledger.latestVersion })
    putMerging(store, this.#builder, undefined)
    putReverting(store, this.#builder, undefined)
    this.#putLedger({ ...before, walFile, nextCommit, nextGeneration: nextGeneration + (isKept ? 1 : 0) })
  }

  /** Records that the transaction of a slice was committed. Call it after each. */
  sliceCommitted(): void {
    this.#committed = this.#next
  }

  #revertPage(revert: KeyRevert, deadline: number): void {
    if (!this.#next) return
    const range = { start: this.#next, end: END, limit: PAGE_KEYS }
    const keys = [...this.#store.latestByStoredKey.getKeys(range)]
    for (const key of keys) {
      if (!revert.revert(key) || performance.now() < deadline) continue
      this.#next = keyAfter(key)
      return
    }
    this.#next = keys.length < PAGE_KEYS ? undefined : keyAfter(keys.at(-1)!)
  }

  #readLedger(): LedgerRecord {
    return decodeLedgerRecord(this.#store.meta.getBinary(LEDGER_KEY)!)
  }

  #putLedger(record: LedgerRecord): void {
    this.#store.meta.putSync(LEDGER_KEY, encodeLedgerRecord(this.#builder, record))
  }
}
