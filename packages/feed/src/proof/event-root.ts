import type { ByteReader } from '@ledger-state/core'
import { AccumulatorFrontier, type LedgerHasher } from '@ledger-state/proof'
import { readEvents } from '../wire/events.js'

/** Moves the reader past a vector of events, and answers with the root of their accumulator. */
export function computeEventRoot(reader: ByteReader, hasher: LedgerHasher): Uint8Array {
  const frontier = new AccumulatorFrontier(hasher, 'EventAccumulator')
  readEvents(reader, (event) => frontier.append(hasher.hash('ContractEvent', event)))
  return frontier.root()
}
