import type { VersionWrites } from '@ledger-state/core'
import type { CommitOptions, LedgerInfo } from '@ledger-state/engine'
import { validateBatch } from '@ledger-state/engine/authoring'
import { MergeScheduler } from '../compaction/merge-scheduler.js'
import { SegmentMerge } from '../compaction/merge-segment.js'
import { SharedRecord } from '../lmdb/shared-record.js'
import { NONE, Segment } from '../memtable/segment.js'
import { DELETED } from '../records/latest-record.js'
import { type CommitContent, commitSize, payloadLength, putCommit } from '../wal/put-payload.js'
import { dropUnfinishedImport } from './import-state.js'
import type { WriterParts } from './writer-parts.js'

type NewCommit = Omit<CommitContent, 'number'>

/** Commits to the memtable and its write-ahead file, and merges full segments into LMDB. */
export class CommitWriter {
  readonly merges: MergeScheduler
  readonly #parts: WriterParts
  readonly #segmentBytes: number
  readonly #latest = new SharedRecord()

  /** @param segmentBytes the most that a segment may have */
  constructor(parts: WriterParts, segmentBytes: number) {
    this.#parts = parts
    this.#segmentBytes = segmentBytes
    const { store, builder, log, transactions } = parts
    this.merges = new MergeScheduler({
      store,
      builder,
      table: log.table,
      transact: (slice) => this.#mergeSlice(slice),
      syncStore: async () => {
        if (store.durability !== 'none') await transactions.sync()
      },
      onMerged: (fileNumber) => this.#dropMerged(fileNumber),
    })
  }

  /** @throws as `StateWriter.commit` */
  async commit(versions: readonly VersionWrites[], options: CommitOptions): Promise<void> {
    const { store, reads, log, atFailpoint, onChange } = this.#parts
    const { ledger } = reads.snapshot()
    const chainId = validateBatch(versions, options, ledger)
    if (versions.length === 0) return
    store.expectInPlace()
    atFailpoint('commit: began')
    const content = { chainId, versions, mark: options.mark, blockBefore: ledger?.latestBlock }
    const size = commitSize(content)
    const { segment } = log
    if (!segment || size > this.#segmentBytes) await this.#commitInBulk(content, ledger)
    else await this.#append(segment, content, size)
    atFailpoint('commit: done')
    onChange()
  }

  /** Merges all commits so far. */
  async mergeAll(): Promise<void> {
    if (this.#parts.log.segment?.head) await this.#rotate()
    await this.merges.settled()
    this.#parts.expectOpen()
  }

  async #append(segment: Segment, content: NewCommit, size: number): Promise<void> {
    const { log, reads, expectOpen } = this.#parts
    const filled = segment.byteSize + size
    if (segment.head && filled > this.#segmentBytes) await this.#rotate()
    else if (log.table.segments.length > 1) await this.merges.keepPace(filled / this.#segmentBytes)
    expectOpen()
    log.append(content, (key, hash) => this.#hasValue(key, hash))
    reads.noticeCommit()
  }

  /** Merges a commit at once: the first of a store, and one that is larger than a segment. */
  async #commitInBulk(content: NewCommit, ledger: LedgerInfo | undefined): Promise<void> {
    const { store, builder, log, transactions, atFailpoint } = this.#parts
    if (log.segment) await this.mergeAll()
    log.bypass(1, 'bulk: committed', ({ walFile, nextCommit }) => {
      atFailpoint('bulk: file created')
      const { hash } = log.table
      const segment = new Segment(0, hash)
      segment.reserve(payloadLength(content))
      segment.head = putCommit(segment, hash, { ...content, number: nextCommit - 1 }, (key) => this.#isInLatest(key))
      const merge = new SegmentMerge(store, builder, segment, walFile)
      transactions.run(transactions.ofLog, () => {
        if (!ledger) dropUnfinishedImport(store)
        merge.mergeWhole()
        atFailpoint('bulk: before the transaction ends')
      })
    })
  }

  /** One sealed segment at most waits to be merged. */
  async #rotate(): Promise<void> {
    await this.merges.settled()
    this.#parts.expectOpen()
    this.#parts.log.rotate()
    this.merges.start()
  }

  /** Whether a key that the newest segment does not have has a value. */
  #hasValue(key: Uint8Array, hash: number): boolean {
    for (const segment of this.#parts.log.table.segments.slice(0, -1).reverse()) {
      const entry = segment.newest(key, hash)
      if (entry !== NONE) return !segment.isDeletion(entry)
    }
    return this.#isInLatest(key)
  }

  #isInLatest(key: Uint8Array): boolean {
    const { store, reads } = this.#parts
    const latest = this.#latest
    if (!latest.load(store.latest, key, reads.snapshot().options)) return false
    return (latest.bytes[0]! & DELETED) === 0
  }

  #mergeSlice(slice: () => boolean): boolean {
    const { transactions, atFailpoint } = this.#parts
    const isMerged = transactions.run(transactions.ofSlice, () => {
      const isLast = slice()
      atFailpoint(isLast ? 'merge: before the last transaction ends' : 'merge: before the transaction ends')
      return isLast
    })
    if (!isMerged) atFailpoint('merge: slice done')
    return isMerged
  }

  async #dropMerged(fileNumber: number): Promise<void> {
    const { log, atFailpoint } = this.#parts
    atFailpoint('merge: done')
    await log.dropBelow(fileNumber)
    atFailpoint('merge: file removed')
  }
}
