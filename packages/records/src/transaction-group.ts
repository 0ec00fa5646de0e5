import { ByteReader, ByteWriter, type Write } from '@ledger-state/core'
import type { LedgerHasher } from '@ledger-state/proof'
import { visitWriteSet } from '@ledger-state/proof/transactions'
import { encodeGroupedVersions } from './grouped-versions.js'
import { IndexKeys } from './index-keys.js'
import { hashesOffset } from './info-outline.js'
import {
  retainedBlockKey,
  retainedIndexKey,
  transactionBlockKey,
  transactionHashKey,
  transactionHashMark,
} from './own-keys.js'
import type { OwnFacts, StoredTransaction } from './transaction-block.js'
import { BlockParts, TransactionBlockWriter } from './transaction-block-writer.js'
import type { WholeTransaction } from './whole-transaction.js'
import { ALL_TRANSACTION_INDEXES, type TransactionIndex } from './whole-transactions-mark.js'

const NOTHING: readonly Write[] = []
const NO_FACTS: OwnFacts = { timestampUsec: 0n }

/**
 * Place of transactions in a store: under keys that other versions share, which a prune drops with the state; the same
 * with the values of their write sets, for a store that lacks some of the state; or under keys of their own, with these
 * values, which stay until they are deleted.
 */
export type TransactionPlace = 'shared' | 'shared_with_values' | 'own'

/** The writes that a group adds to its versions. */
export interface GroupWrites {
  /** By version. */
  readonly writes: ReadonlyMap<bigint, readonly Write[]>
  /** Versions whose transactions are too long for a store. */
  readonly tooLong: readonly bigint[]
}

interface EndedBlock {
  readonly firstVersion: bigint
  /** Version after its last transaction. */
  readonly end: bigint
  /** Undefined if it is too long for a store. */
  readonly bytes: Uint8Array | undefined
  /** Keys of its own, if the group does not have them. */
  readonly keys: IndexKeys
}

/**
 * Whole transactions of versions that are committed together, in blocks. Each key of an index is written once for all of
 * them, by the first version of the group; transactions with keys of their own are deleted block by block, so the first
 * version of each of their blocks writes the keys.
 */
export class TransactionGroup {
  readonly firstVersion: bigint
  readonly #place: TransactionPlace
  readonly #ended: EndedBlock[] = []
  readonly #parts = new BlockParts()
  #block: TransactionBlockWriter | undefined
  /** The keys of the group, or of the last block of a group whose blocks have keys of their own. */
  #keys: IndexKeys
  readonly #indexes: ReadonlySet<TransactionIndex>

  constructor(firstVersion: bigint, place: TransactionPlace = 'shared', indexes = ALL_TRANSACTION_INDEXES) {
    this.firstVersion = firstVersion
    this.#place = place
    this.#indexes = indexes
    this.#keys = new IndexKeys(firstVersion, indexes)
  }

  /**
   * Adds a later version.
   * @param writes the writes of the version
   * @param ownFacts is stored with the values of the write set
   * @returns the writes of the version itself
   * @throws `invalid_bcs`
   */
  add(
    version: bigint,
    whole: WholeTransaction,
    writes: readonly Write[],
    ownFacts: OwnFacts = NO_FACTS,
  ): readonly Write[] {
    const { info } = whole
    // The hash of the transaction is the first of the hashes in its info.
    const hashesAt = hashesOffset(info)
    this.#blockFor(version, whole).add(whole, hashesAt, writes, ownFacts)
    this.#keys.add(version, whole, writes)
    if (!this.#indexes.has('hash')) return NOTHING
    return [[this.#keyAt(transactionHashKey(info, hashesAt), version), transactionHashMark(info, hashesAt)]]
  }

  #blockFor(version: bigint, whole: WholeTransaction): TransactionBlockWriter {
    if (this.#block?.hasRoomFor(version, whole)) return this.#block
    this.#endBlock()
    const isOwn = this.#place === 'own'
    if (isOwn) this.#keys = new IndexKeys(version, this.#indexes)
    const place = { firstVersion: version, group: isOwn ? version : this.firstVersion, frontier: whole.readFrontier() }
    this.#block = new TransactionBlockWriter(place, this.#place !== 'shared', this.#parts)
    return this.#block
  }

  #endBlock(): void {
    const block = this.#block
    if (!block) return
    const { firstVersion, end } = block
    this.#ended.push({ firstVersion, end, bytes: block.toBytes(), keys: this.#keys })
  }

  /** Ends the group. */
  toWrites(): GroupWrites {
    this.#endBlock()
    const writes = new Map<bigint, Write[]>()
    const tooLong: bigint[] = []
    for (const { firstVersion, end, bytes: block, keys } of this.#ended) {
      const made: Write[] = [block ? [blockKeyAt(this.#place, firstVersion), block] : this.#without(firstVersion)]
      if (!block) for (let version = firstVersion; version < end; version++) tooLong.push(version)
      else if (this.#place === 'own') this.#addRows(made, keys)
      writes.set(firstVersion, made)
    }
    const first = writes.get(this.firstVersion)
    if (first && this.#place !== 'own') this.#addRows(first, this.#keys, tooLong)
    return { writes, tooLong }
  }

  #without(version: bigint): Write {
    return noTransactionWrite(version, this.#place)
  }

  #addRows(writes: Write[], keys: IndexKeys, without: readonly bigint[] = []): void {
    const { firstVersion } = keys
    const writer = new ByteWriter()
    if (without.length > 0) keys.remove(without)
    for (const grouped of keys.all())
      writes.push([this.#keyAt(grouped.key, firstVersion), encodeGroupedVersions(firstVersion, grouped, writer)])
  }

  #keyAt(key: Uint8Array, version: bigint): Uint8Array {
    return this.#place === 'own' ? retainedIndexKey(key, version) : key
  }
}

/** The write by which a version keeps no transaction, whatever the block before it has. */
export function noTransactionWrite(version: bigint, place: TransactionPlace): Write {
  return [blockKeyAt(place, version), new Uint8Array(0)]
}

function blockKeyAt(place: TransactionPlace, version: bigint): Uint8Array {
  return place === 'own' ? retainedBlockKey(version) : transactionBlockKey(version)
}

/** All keys that transactions with keys of their own can have in a store, except the one of their block. */
export function ownIndexKeys(
  firstVersion: bigint,
  transactions: readonly StoredTransaction[],
  hasher: LedgerHasher,
): readonly Uint8Array[] {
  const indexKeys = new IndexKeys(firstVersion, ALL_TRANSACTION_INDEXES)
  const keys: Uint8Array[] = []
  for (const [at, stored] of transactions.entries()) {
    const version = firstVersion + BigInt(at)
    const writes: Write[] = []
    visitWriteSet(new ByteReader(stored.writeSet), ({ key }) => writes.push([key, null]))
    indexKeys.add(version, stored, writes)
    keys.push(retainedIndexKey(transactionHashKey(hasher.hash('Transaction', stored.transaction)), version))
  }
  for (const { key } of indexKeys.all()) keys.push(retainedIndexKey(key, firstVersion))
  return keys
}
