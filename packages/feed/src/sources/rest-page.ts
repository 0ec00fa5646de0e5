import { Buffer } from 'node:buffer'
import { ByteReader, isLedgerStateError } from '@ledger-state/core'
import { HASH_LENGTH, readOutcome, readTransactionInfo } from '@ledger-state/proof'
import { readEvents } from '@ledger-state/proof/transactions'
import { readKeptTransaction, type WholeTransaction } from '@ledger-state/records'
import { atPlace } from '../errors.js'
import type { ProvenPage, RestPage } from '../proof/page-proof.js'
import { viewAsBuffer } from '../view-as-buffer.js'
import { readWriteSet } from '../wire/write-set.js'
import type { LedgerVersion } from './source.js'

/** A transaction as a node gives it, with commitments that distinguish it from every other one. */
export interface RestItem extends Omit<LedgerVersion, 'readWhole'> {
  readonly readWhole: () => Omit<WholeTransaction, 'readFrontier'>
  readonly transaction: Uint8Array
  /** Hash of the item's TransactionInfo, which is its leaf in the ledger's accumulator. */
  readonly leaf: Uint8Array
  /** Root of the accumulator of the ledger up to the item. */
  readonly accumulatorRoot: Uint8Array
}

/**
 * Number of items of a page that was not proven yet.
 * @throws `source_failed`
 */
export function countItems({ body, url }: RestPage): number {
  try {
    return new ByteReader(body).readLength()
  } catch (error) {
    throw isLedgerStateError(error) ? atPlace(error, url, 'source_failed') : error
  }
}

/** Reads the items of a page that was proven. */
export function readRestPage({ body, start }: RestPage, { splits, leaves, stateRoots }: ProvenPage): RestItem[] {
  const reader = new ByteReader(body)
  const leafBytes = viewAsBuffer(leaves)
  return Array.from({ length: reader.readLength() }, (_, at) => {
    const transactionStart = reader.offset + 8
    const infoStart = splits[2 * at]!
    const transaction = reader.bytes.subarray(transactionStart, infoStart)
    const readTransaction = () => readKeptTransaction(transaction, readOutcome(body, infoStart))
    reader.offset = splits[2 * at + 1]!
    const accumulatorRoot = reader.readBytes(HASH_LENGTH)
    const writeSetStart = reader.offset
    const writes = readWriteSet(reader)
    const leaf = leafBytes.subarray(at * HASH_LENGTH, (at + 1) * HASH_LENGTH)
    const writeSet = reader.bytes.subarray(writeSetStart, reader.offset)
    const readWhole = () => ({
      ...infoAndEvents(body, infoStart),
      transaction,
      writeSet,
      indexInBlock: undefined,
      leaf,
    })
    const stateRoot = stateRoots.get(at)
    const version = start + BigInt(at)
    return { version, writes, stateRoot, transaction, readTransaction, readWhole, leaf, accumulatorRoot }
  })
}

function infoAndEvents(body: Uint8Array, infoStart: number): Pick<WholeTransaction, 'info' | 'events'> {
  const reader = new ByteReader(body, infoStart)
  readTransactionInfo(reader)
  const info = body.subarray(infoStart, reader.offset)
  const eventsStart = reader.offset
  readEvents(reader)
  return { info, events: body.subarray(eventsStart, reader.offset) }
}

export function isSameItem(a: RestItem, b: RestItem): boolean {
  return a.version === b.version && Buffer.compare(a.leaf, b.leaf) === 0
}
