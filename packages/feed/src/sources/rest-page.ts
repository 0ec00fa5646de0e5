import { Buffer } from 'node:buffer'
import { ByteReader } from '@ledger-state/core'
import { HASH_LENGTH } from '@ledger-state/proof'
import type { ProvenPage, RestPage } from '../proof/page-proof.js'
import { readKeptTransaction } from '../wire/kept-transaction.js'
import { readWriteSet } from '../wire/write-set.js'
import type { LedgerVersion } from './source.js'

/** A transaction as a node gives it, with commitments that distinguish it from every other one. */
export interface RestItem extends LedgerVersion {
  readonly transaction: Uint8Array
  /** Hash of the item's TransactionInfo, which is its leaf in the ledger's accumulator. */
  readonly leaf: Uint8Array
  /** Root of the accumulator of the ledger up to the item. */
  readonly accumulatorRoot: Uint8Array
}

/** Reads the items of a page that was proven. */
export function readRestPage({ body, start }: RestPage, { splits, leaves, stateRoots }: ProvenPage): RestItem[] {
  const reader = new ByteReader(body)
  const leafBytes = Buffer.from(leaves.buffer, leaves.byteOffset, leaves.length)
  return Array.from({ length: reader.readLength() }, (_, at) => {
    const transactionStart = reader.offset + 8
    const infoStart = splits[2 * at]!
    const transaction = reader.bytes.subarray(transactionStart, infoStart)
    const readTransaction = () => readKeptTransaction(transaction, body, infoStart)
    reader.offset = splits[2 * at + 1]!
    const accumulatorRoot = reader.readBytes(HASH_LENGTH)
    const writes = readWriteSet(reader)
    const leaf = leafBytes.subarray(at * HASH_LENGTH, (at + 1) * HASH_LENGTH)
    const stateRoot = stateRoots.get(at)
    return { version: start + BigInt(at), writes, stateRoot, transaction, readTransaction, leaf, accumulatorRoot }
  })
}

export function isSameItem(a: RestItem, b: RestItem): boolean {
  return a.version === b.version && Buffer.compare(a.leaf, b.leaf) === 0
}
