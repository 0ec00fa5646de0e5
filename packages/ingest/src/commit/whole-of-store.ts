import { ByteReader, isLedgerStateError, type Write } from '@ledger-state/core'
import { compareBytes } from '@ledger-state/core/bytes'
import type { LedgerVersion } from '@ledger-state/feed'
import { AccumulatorFrontier, DEFAULT_HASH_SALT, LedgerHasher } from '@ledger-state/proof'
import { computeEventRoot } from '@ledger-state/proof/transactions'
import { retainedBlockKey, transactionBlockKey, type WholeTransaction, withValues } from '@ledger-state/records'
import { decodeTransactionBlock, outlineToInfo, type TransactionBlock } from '@ledger-state/records/transaction-blocks'
import { keyName } from '@ledger-state/records/writes-hash'

/**
 * Reads whole transactions out of the writes of another store, which has them in blocks. A slice cannot take over the
 * blocks: it lacks values of their write sets, and keeps other transactions.
 */
export class WholeOfStore {
  #block: TransactionBlock | undefined

  /** Takes the block that a version writes, if it writes one. */
  note(record: LedgerVersion): void {
    const begun = blockIn(record)
    if (begun) this.#block = begun.length === 0 ? undefined : readBlock(begun)
  }

  /**
   * The version with its whole transaction. If the version's block began before the first version that was passed, the
   * transaction is not known.
   * @param hashSalt word before the names of the hashes of the ledger
   */
  withWhole(record: LedgerVersion, hashSalt: string = DEFAULT_HASH_SALT): LedgerVersion {
    const { version, writes } = record
    this.note(record)
    const block = this.#block
    const at = block ? Number(version - block.firstVersion) : -1
    if (!block || at < 0 || at >= block.transactions.length) return record
    const whole = wholeOf(block, at, writes, new LedgerHasher(hashSalt))
    return whole ? { ...record, readWhole: () => whole } : record
  }
}

/** The block that a version writes; empty if it says that its transaction is not kept. */
function blockIn({ version, writes }: LedgerVersion): Uint8Array | undefined {
  const keys = [transactionBlockKey(version), retainedBlockKey(version)]
  for (const [key, value] of writes) if (value && keys.some((one) => compareBytes(one, key) === 0)) return value
  return undefined
}

/** A block of another store; undefined if it does not decode. */
function readBlock(bytes: Uint8Array): TransactionBlock | undefined {
  try {
    return decodeTransactionBlock(bytes)
  } catch (error) {
    if (isLedgerStateError(error, 'invalid_bcs')) return undefined
    throw error
  }
}

/** A transaction of a block; undefined if it and the writes do not match the info hash in the block. */
function wholeOf(
  block: TransactionBlock,
  at: number,
  writes: readonly Write[],
  hasher: LedgerHasher,
): WholeTransaction | undefined {
  const { transaction, events, outline, hashesAt, indexInBlock, leaf, ownFacts, writeSet } = block.transactions[at]!
  try {
    const complete = ownFacts ? writeSet : withValuesOf(writes, writeSet)
    if (!complete) return undefined
    const eventRoot = computeEventRoot(new ByteReader(events), hasher)
    const info = outlineToInfo(outline, hashesAt, { transaction, eventRoot, writeSet: complete }, hasher)
    if (!hasher.hasHash('TransactionInfo', info, leaf)) return undefined
    return {
      transaction,
      events,
      writeSet: complete,
      info,
      indexInBlock,
      leaf,
      readFrontier: () => frontierOf(block, at, hasher),
    }
  } catch (error) {
    if (isLedgerStateError(error, 'invalid_bcs')) return undefined
    throw error
  }
}

function withValuesOf(writes: readonly Write[], writeSet: Uint8Array): Uint8Array | undefined {
  const values = new Map(writes.map(([key, value]) => [keyName(key), value]))
  return withValues(writeSet, (key) => values.get(keyName(key)) ?? undefined)
}

function frontierOf(block: TransactionBlock, at: number, hasher: LedgerHasher): Uint8Array {
  const frontier = AccumulatorFrontier.fromBytes(hasher, 'TransactionAccumulator', block.frontier)
  if (!frontier) throw new ByteReader(block.frontier).fault('no frontier of an accumulator', 0)
  for (const { leaf } of block.transactions.slice(1, at + 1)) frontier.append(leaf)
  return frontier.toBytes()
}
