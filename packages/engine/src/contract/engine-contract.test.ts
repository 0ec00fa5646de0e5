import { describe, it } from 'vitest'
import { engineToAsync } from '../engine-to-async.js'
import { createMemoryEngine, createMemoryStore } from '../memory-engine.js'
import { STATE_ENGINE_CONTRACT } from './engine-contract.js'

describe('the engine in memory', () => {
  for (const { name, run, runAsync } of STATE_ENGINE_CONTRACT) {
    it(name, async () => {
      const store = createMemoryStore()
      await run(() => createMemoryEngine(store), { countsEveryDrop: true })
    })

    it(`${name} (async)`, async () => {
      const store = createMemoryStore()
      await runAsync(async () => engineToAsync(createMemoryEngine(store)), { countsEveryDrop: true })
    })
  }
})
