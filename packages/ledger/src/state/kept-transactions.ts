import { decodeUtf8 } from '@ledger-state/core/bytes'
import { branchOf, type LedgerSummary, type StateReader, type StateView, versionTruncated } from '@ledger-state/engine'
import { AccumulatorFrontier, LedgerHasher } from '@ledger-state/proof'
import {
  bytesToTransaction,
  type KeptTransaction,
  TRANSACTIONS_KEY,
  transactionBlockKey,
  transactionKey,
  WHOLE_TRANSACTIONS_KEY,
} from '@ledger-state/records'
import {
  firstVersionOfBlock,
  type StoredTransaction,
  type TransactionBlock,
} from '@ledger-state/records/transaction-blocks'
import type { TransactionBlockCache } from '../caches/transaction-block-cache.js'
import { storedDataInvalid } from '../errors.js'

const TREE = 'TransactionAccumulator'

/** The transactions that a store keeps for the versions of a pinned ledger. */
export class KeptTransactions {
  readonly #reader: StateReader
  readonly #version: bigint
  readonly #ledger: LedgerSummary
  #areThere: boolean | undefined
  #hasher: LedgerHasher | undefined
  readonly #blocks: TransactionBlockCache

  constructor(
    reader: StateReader,
    blocks: TransactionBlockCache,
    { version, ledger }: { readonly version: bigint; readonly ledger: LedgerSummary },
  ) {
    this.#reader = reader
    this.#blocks = blocks
    this.#version = version
    this.#ledger = ledger
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
   * The stored part of the whole transaction of a version; undefined if the store does not have it, below the window
   * and above the pinned version. The write set has no values.
   * @throws `version_pruned`, `version_truncated`; `invalid_bcs`
   */
  storedAt(version: bigint): StoredTransaction | undefined {
    const block = this.#blockAt(version)
    return block?.transactions[Number(version - block.firstVersion)]
  }

  /**
   * First version of the group that was stored together with a version, if the store has its transaction. Only versions
   * of the same group count under a key of an index: a truncation may have cut off the others that the key names.
   * @throws `version_pruned`, `version_truncated`; `invalid_bcs`
   */
  groupAt(version: bigint): bigint | undefined {
    const value = this.#blockValueAt(version)
    return value && firstVersionOfBlock(value)
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
    const frontier = AccumulatorFrontier.fromBytes(hasher, TREE, block.frontier)
    if (!frontier) throw storedDataInvalid.frontierInvalid(block.firstVersion)
    for (const { leaf } of block.transactions.slice(1, count)) frontier.append(leaf)
    return frontier
  }

  #blockAt(version: bigint): TransactionBlock | undefined {
    const value = this.#blockValueAt(version)
    return value && value.length > 0 ? this.#blocks.decode(value) : undefined
  }

  #blockValueAt(version: bigint): Uint8Array | undefined {
    if (version > this.#version || version < this.#ledger.oldestVersion || !this.hasher) return undefined
    const view = this.viewAt(version)
    if (view.get(WHOLE_TRANSACTIONS_KEY) === undefined) return undefined
    return view.get(transactionBlockKey(version))
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
      if (value) return new LedgerHasher(decodeUtf8(value))
    }
    return undefined
  }

  #search(): boolean {
    for (const _ of this.#reader.history(TRANSACTIONS_KEY, { last: this.#version })) return true
    return false
  }
}

/**
 * The accumulator without its last leaf. Undefined if the leaf is a part of a larger subtree, which hides the leaf before
 * it.
 */
function withoutLast(hasher: LedgerHasher, bytes: Uint8Array): AccumulatorFrontier | undefined {
  const frontier = AccumulatorFrontier.fromBytes(hasher, TREE, bytes)
  if (!frontier || frontier.count % 2 === 0) return undefined
  return AccumulatorFrontier.fromSubtrees(hasher, TREE, frontier.count - 1, frontier.subtrees.slice(1))
}
