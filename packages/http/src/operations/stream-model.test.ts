import { createMemoryEngine } from '@ledger-state/engine'
import { createRandom, testSeed } from '@ledger-state/testing/random'
import { expect, it } from 'vitest'
import { runRandomStreams } from '../../testing/random-streams.ts'
import { createEngineChanges } from '../changes/engine-changes.js'

const ROUNDS = 2

it(`clients of random streams receive the entries of a model (TEST_SEED=${testSeed()})`, async () => {
  const random = createRandom(testSeed())
  for (let round = 0; round < ROUNDS; round++) {
    const engine = createMemoryEngine()
    const openReader = () => ({ state: engine, changes: createEngineChanges(engine), close: async () => {} })
    const { events } = await runRandomStreams(random, engine, openReader, { steps: 40, clients: 5 })
    expect(events.get('id')).toBeGreaterThan(0)
  }
})
