import { createMemoryEngine } from '@ledger-state/engine'
import { createRandom, testSeed } from '@ledger-state/testing/random'
import { scaledRounds } from '@ledger-state/testing/test-scale'
import { expect, it } from 'vitest'
import { runRandomStreams } from '../../testing/random-streams.ts'
import { createEngineChanges } from '../changes/engine-changes.js'

const ROUNDS = 15
const KINDS = ['id', 'message', 'pruned', 'truncated']

it(`many clients of long random streams receive the entries of a model (TEST_SEED=${testSeed()})`, async () => {
  const random = createRandom(testSeed())
  const seen = new Map<string, number>()
  // A short run continues until it has seen each kind of event, as few rounds may have none of one.
  for (let round = 0; round < scaledRounds(ROUNDS) || (seen.size < KINDS.length && round < ROUNDS); round++) {
    const engine = createMemoryEngine()
    const openReader = () => ({ state: engine, changes: createEngineChanges(engine), close: async () => {} })
    const size = { steps: 20 + random.below(150), clients: 1 + random.below(16) }
    const { events } = await runRandomStreams(random, engine, openReader, size)
    for (const [kind, count] of events) seen.set(kind, (seen.get(kind) ?? 0) + count)
  }
  expect([...seen.keys()].toSorted()).toEqual(KINDS)
})
