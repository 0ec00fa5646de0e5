import type { ByteReader } from '@ledger-state/core'
import { HASH_LENGTH } from '../hashes/hash-bytes.js'
import type { LedgerHasher } from '../hashes/ledger-hasher.js'
import { readEvents } from '../wire/events.js'
import { AccumulatorFrontier } from './accumulator.js'

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
