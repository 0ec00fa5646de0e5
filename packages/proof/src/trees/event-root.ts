import type { ByteReader } from '@ledger-state/core'
import { HASH_LENGTH } from '../hashes/hash-bytes.js'
import { ACCUMULATOR_PLACEHOLDER, type LedgerHasher } from '../hashes/ledger-hasher.js'
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

/** The siblings on the path from an event of a vector to the root of their accumulator, the lowest first. */
export function eventPath(reader: ByteReader, index: number, hasher: LedgerHasher): Uint8Array[] {
  let nodes: Uint8Array[] = []
  readEvents(reader, (event) => nodes.push(hasher.hash('ContractEvent', event)))
  const siblings: Uint8Array[] = []
  for (let at = index; nodes.length > 1; at = Math.floor(at / 2)) {
    siblings.push(nodes[at ^ 1] ?? ACCUMULATOR_PLACEHOLDER)
    const level = nodes
    nodes = Array.from({ length: Math.ceil(level.length / 2) }, (_, pair) =>
      hasher.hashPair('EventAccumulator', level[2 * pair]!, level[2 * pair + 1] ?? ACCUMULATOR_PLACEHOLDER),
    )
  }
  return siblings
}
