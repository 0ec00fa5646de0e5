import { larger } from '@ledger-state/core'
import {
  branchOf,
  type LedgerSummary,
  type StateReader,
  type StateView,
  versionPruned,
  versionTruncated,
} from '@ledger-state/engine'
import { AccumulatorFrontier, LedgerHasher } from '@ledger-state/proof'
import {
  bytesToTransaction,
  decodeRetained,
  decodeWholeTransactionsMark,
  type KeptTransaction,
  RETAINED_KEY,
  RUN_VERSIONS,
  retainedIndexPrefix,
  TRANSACTIONS_KEY,
  type TransactionIndex,
  transactionBlockKey,
  transactionKey,
  WHOLE_TRANSACTIONS_KEY,
  wholeTransactionsBegin,
} from '@ledger-state/records'
import { placeOfBlock, type StoredTransaction, type TransactionBlock } from '@ledger-state/records/transaction-blocks'
import type { TransactionBlockCache } from '../caches/transaction-block-cache.js'
import { storedDataInvalid, transactionsNotIndexed, transactionsPruned } from '../errors.js'
import { lastRetainedRow, type RetainedRow, type RowRange, retainedRows } from './retained-rows.js'

const TREE = 'TransactionAccumulator'

/** The transactions that a store keeps for the versions of a pinned ledger. */
export class KeptTransactions {
  readonly #reader: StateReader
  readonly #version: bigint
  readonly #ledger: LedgerSummary
  #areThere: boolean | undefined
  #hasher: LedgerHasher | undefined
  readonly #blocks: TransactionBlockCache
  readonly #view: StateView
  /** The frontier of the newest version that was asked for, and the number of versions of its block up to it. */
  #lastFrontier: { readonly block: TransactionBlock; readonly count: number; readonly bytes: Uint8Array } | undefined
  #retained: ReturnType<typeof decodeRetained> | null | undefined

  /** @param reader the store without the rules of a slice, like `view` */
  constructor(reader: StateReader, blocks: TransactionBlockCache, view: StateView) {
    this.#reader = reader
    this.#blocks = blocks
    this.#view = view
    this.#version = view.version
    this.#ledger = view.ledger
  }

  /**
   * Oldest version that may have a whole transaction: the oldest of the window, or an older one if transactions are
   * retained.
   */
  get oldestVersion(): bigint {
    const { oldestVersion } = this.#ledger
    const retained = this.#retainedSince
    return retained !== undefined && retained < oldestVersion ? retained : oldestVersion
  }

  /**
   * First version since which the store was given every whole transaction, or every one of its slice.
   * @throws `version_pruned` if it was not given the one of the pinned version
   */
  get givenSince(): bigint {
    const begun = wholeTransactionsBegin(this.#view.getEntry(WHOLE_TRANSACTIONS_KEY))
    if (begun === undefined) throw transactionsPruned.newest(this.#version, this.oldestVersion)
    return begun
  }

  /**
   * First version since which the store has every whole transaction, or every one of its slice. Before it, items of a
   * list may be missing.
   * @throws as `givenSince`
   */
  get completeSince(): bigint {
    return larger(this.givenSince, this.oldestVersion)
  }

  /** @throws `transactions_not_indexed` if the store leaves out an index of whole transactions */
  expectIndex(index: TransactionIndex): void {
    const mark = this.#view.get(WHOLE_TRANSACTIONS_KEY)
    if (mark && !decodeWholeTransactionsMark(mark).indexes.has(index)) throw transactionsNotIndexed(index)
  }

  /** @throws `version_pruned` if transactions since a version are not kept */
  expectSince(version: bigint): void {
    const { completeSince } = this
    if (version >= completeSince) return
    const { oldestVersion } = this
    throw version < oldestVersion
      ? versionPruned(version, oldestVersion)
      : transactionsPruned.before(version, completeSince)
  }

  /** The rows that an index has for retained transactions. @param key as for other transactions */
  *retainedRows(key: Uint8Array, range: RowRange, order: 'asc' | 'desc'): Generator<RetainedRow, void> {
    if (this.#retainedSince !== undefined) yield* retainedRows(this.#view, retainedIndexPrefix(key), range, order)
  }

  get #retainedSince(): bigint | undefined {
    return this.#retainedRecord?.oldestVersion
  }

  get #retainedRecord(): ReturnType<typeof decodeRetained> | undefined {
    if (this.#retained === undefined) {
      const value = this.#view.get(RETAINED_KEY)
      this.#retained = value ? decodeRetained(value) : null
    }
    return this.#retained ?? undefined
  }

  /** Whether any version of the window up to the pinned one came with its transaction. */
  get areThere(): boolean {
    this.#areThere ??= this.#search()
    return this.#areThere
  }

  /**
   * The transaction of a version.
   * @throws `version_pruned`, `version_truncated`
   */
  at(version: bigint): KeptTransaction | undefined {
    if (version < this.#ledger.oldestVersion || !this.areThere) return undefined
    const entry = this.viewAt(version).getEntry(transactionKey(version))
    return entry?.version === version ? bytesToTransaction(entry.value) : undefined
  }

  /**
   * The hasher of the ledger, if any version of the window up to the pinned one came with its whole transaction;
   * otherwise undefined.
   */
  get hasher(): LedgerHasher | undefined {
    this.#hasher ??= this.#createHasher()
    return this.#hasher
  }

  /**
   * The stored part of the whole transaction of a version; undefined if the store does not have it, and above the
   * pinned version.
   * @throws `version_pruned`, `version_truncated`; `invalid_bcs`
   */
  storedAt(version: bigint): StoredTransaction | undefined {
    const block = this.#blockAt(version)
    return block?.transactions[Number(version - block.firstVersion)]
  }

  /**
   * First version of the group that was stored together with a version, if the store has its transaction. Only versions
   * of the same group count under a key of an index: a truncation may have cut off the last ones that the key names.
   * @throws `version_pruned`, `version_truncated`; `invalid_bcs`
   */
  groupAt(version: bigint): bigint | undefined {
    if (version > this.#version || !this.hasher) return undefined
    const shared = this.#sharedPlaceAt(version)
    const retained = this.#retainedBlockAt(version)
    return retained && (!shared || retained.version > shared.firstVersion) ? retained.version : shared?.group
  }

  #sharedPlaceAt(version: bigint): ReturnType<typeof placeOfBlock> {
    if (version < this.#ledger.oldestVersion) return undefined
    const view = this.viewAt(version)
    if (view.peek(WHOLE_TRANSACTIONS_KEY) === undefined) return undefined
    const value = view.peek(transactionBlockKey(version))
    return value && placeOfBlock(value)
  }

  /**
   * The accumulator of the ledger whose last leaf is a version. Undefined if the store does not have its transaction.
   * @throws `version_pruned`, `version_truncated`; `invalid_bcs`
   */
  frontierAt(version: bigint): AccumulatorFrontier | undefined {
    const block = this.#blockAt(version)
    const hasher = this.hasher
    if (!block || !hasher) return undefined
    const count = Number(version - block.firstVersion) + 1
    if (count > block.transactions.length) return undefined
    return this.#frontierOf(block, hasher, count)
  }

  /**
   * The accumulator of the ledger whose last leaf is the one before a version. Undefined if too few transactions are
   * kept.
   * @throws `version_pruned`, `version_truncated`; `invalid_bcs`
   */
  frontierBefore(version: bigint): AccumulatorFrontier | undefined {
    const block = this.#blockAt(version)
    const hasher = this.hasher
    if (!block || !hasher) return undefined
    if (version === 0n) return new AccumulatorFrontier(hasher, TREE)
    const before = Number(version - block.firstVersion)
    if (before === 0) return this.frontierAt(version - 1n) ?? withoutLast(hasher, block.frontier)
    return this.#frontierOf(block, hasher, before)
  }

  #frontierOf(block: TransactionBlock, hasher: LedgerHasher, count: number): AccumulatorFrontier {
    // A page reads one version after the other: each continues from the one before.
    const known = this.#lastFrontier
    const isBefore = known?.block === block && known.count <= count
    const begun = isBefore ? known : { block, count: 1, bytes: block.frontier }
    const frontier = AccumulatorFrontier.fromBytes(hasher, TREE, begun.bytes)
    if (!frontier) throw storedDataInvalid.frontierInvalid(block.firstVersion)
    for (const { leaf } of block.transactions.slice(begun.count, count)) frontier.append(leaf)
    this.#lastFrontier = { block, count, bytes: frontier.toBytes() }
    return frontier
  }

  #blockAt(version: bigint): TransactionBlock | undefined {
    const value = this.#blockValueAt(version)
    return value && value.length > 0 ? this.#blocks.decode(value) : undefined
  }

  #blockValueAt(version: bigint): Uint8Array | undefined {
    if (version > this.#version || !this.hasher) return undefined
    const shared = this.#sharedBlockAt(version)
    const retained = this.#retainedBlockAt(version)
    // The later of two blocks has the version: a truncation may have cut off the end of the other one.
    return retained && (!shared || retained.version > shared.version) ? retained.value : shared?.value
  }

  #sharedBlockAt(version: bigint): RetainedRow | undefined {
    if (version < this.#ledger.oldestVersion) return undefined
    const view = this.viewAt(version)
    if (view.get(WHOLE_TRANSACTIONS_KEY) === undefined) return undefined
    return view.getEntry(transactionBlockKey(version))
  }

  #retainedBlockAt(version: bigint): RetainedRow | undefined {
    const since = this.#retainedSince
    if (since === undefined || version < since) return undefined
    const first = (version / RUN_VERSIONS) * RUN_VERSIONS
    return lastRetainedRow(this.#view, RETAINED_KEY, { first, last: version })
  }

  /** The state that renders a version: its own one, or the oldest one of the window if that is pruned. */
  renderingViewAt(version: bigint): StateView {
    const { oldestVersion } = this.#ledger
    return this.viewAt(version < oldestVersion ? oldestVersion : version)
  }

  /**
   * The state at a version of the pinned ledger.
   * @throws `version_pruned`, `version_truncated`
   */
  viewAt(version: bigint): StateView {
    const cut = this.#reader.ledger?.truncations?.find(
      (one) => one.number > branchOf(this.#ledger) && one.version < version,
    )
    if (cut) throw versionTruncated(version)
    return this.#reader.at(version)
  }

  #createHasher(): LedgerHasher | undefined {
    for (const { value } of this.#reader.history(WHOLE_TRANSACTIONS_KEY, { last: this.#version })) {
      const hashSalt = value ? decodeWholeTransactionsMark(value).hashSalt : undefined
      if (hashSalt !== undefined) return new LedgerHasher(hashSalt)
    }
    const retained = this.#retainedRecord
    return retained && new LedgerHasher(retained.hashSalt)
  }

  #search(): boolean {
    for (const _ of this.#reader.history(TRANSACTIONS_KEY, { last: this.#version })) return true
    return false
  }
}

/**
 * The accumulator without its last leaf. Undefined if the leaf is a part of a larger subtree, which hides the leaf
 * before it.
 */
function withoutLast(hasher: LedgerHasher, bytes: Uint8Array): AccumulatorFrontier | undefined {
  const frontier = AccumulatorFrontier.fromBytes(hasher, TREE, bytes)
  if (!frontier || frontier.count % 2 === 0) return undefined
  return AccumulatorFrontier.fromSubtrees(hasher, TREE, frontier.count - 1, frontier.subtrees.slice(1))
}
