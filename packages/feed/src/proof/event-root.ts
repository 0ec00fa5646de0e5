import type { ByteReader } from '@ledger-state/core'
import { AccumulatorFrontier, HASH_LENGTH, type LedgerHasher } from '@ledger-state/proof'
import { readEvents } from '@ledger-state/proof/transactions'

/** Moves the reader past a vector of events, and returns the root of their accumulator. */
export function computeEventRoot(reader: ByteReader, hasher: LedgerHasher): Uint8Array {
  const frontier = new AccumulatorFrontier(hasher, 'EventAccumulator')
  const leaf = new Uint8Array(HASH_LENGTH)
  readEvents(reader, (event) => {
    hasher.hashInto('ContractEvent', event, leaf, 0)
    frontier.append(leaf)
  })
  return frontier.root()
}
