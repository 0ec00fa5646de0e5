import { ByteWriter } from '@ledger-state/core'
import type { CompleteTransaction } from './transaction.js'

/** A transaction with everything that it did, in the form of the answers in BCS. */
export function transactionToBcs(version: bigint, whole: CompleteTransaction): Uint8Array {
  const { transaction, info, events, accumulatorRoot, writeSet } = whole
  const writer = new ByteWriter().u64(version).bytes(transaction).bytes(info).bytes(events)
  return writer.bytes(accumulatorRoot).bytes(writeSet).toBytes()
}
