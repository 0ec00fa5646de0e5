// Checks that each of many broken engines fails a case of the contract.
import { overriding } from '@ledger-state/testing/overriding'
import { describe, expect, it } from 'vitest'
import { BEYOND_ASYNC_PORT } from '../../testing/broken-engines/beyond-async-port.ts'
import { BROKEN_ENGINES } from '../../testing/broken-engines/broken-engines.ts'
import { BROKEN_SNAPSHOTS } from '../../testing/broken-engines/broken-snapshots.ts'
import { firstFailure, openBroken } from '../../testing/broken-engines/find-fault.ts'
import { engineToAsync } from '../engine-to-async.js'
import { createMemoryEngine, createMemoryStore } from '../memory-engine.js'
import { type ContractCase, STATE_ENGINE_CONTRACT } from './engine-contract.js'

describe('the contract finds an engine that', () => {
  it.each(BROKEN_ENGINES)('$fault', async (engine) => {
    expect(await firstFailure(engine.cases, (one) => one.run(openBroken(engine)))).toBeDefined()
  })
})

describe('the contract finds an engine whose reads are promises that', () => {
  it.each(BROKEN_ENGINES.filter(({ fault }) => !BEYOND_ASYNC_PORT.has(fault)))('$fault', async (engine) => {
    const run = (one: ContractCase) => {
      const open = openBroken(engine)
      return one.runAsync(async () => engineToAsync(open()))
    }
    expect(await firstFailure(engine.cases, run)).toBeDefined()
  })

  it.each(Object.entries(BROKEN_SNAPSHOTS))('%s', async (_, patch) => {
    const run = (one: ContractCase) => {
      const store = createMemoryStore()
      let openings = 0
      return one.runAsync(async () => {
        const engine = engineToAsync(createMemoryEngine(store))
        return overriding(engine, patch(engine, openings++))
      })
    }
    expect(await firstFailure(STATE_ENGINE_CONTRACT, run)).toBeDefined()
  })
})
