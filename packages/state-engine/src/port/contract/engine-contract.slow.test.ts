import './engine-contract.test.js'
import { describe, expect, it } from 'vitest'
import { BEYOND_REMOTE_PORT } from '../../../testing/broken-engines/beyond-remote-port.ts'
import { BROKEN_ENGINES } from '../../../testing/broken-engines/broken-engines.ts'
import { BROKEN_SNAPSHOTS } from '../../../testing/broken-engines/broken-snapshots.ts'
import { firstFailure, openBroken } from '../../../testing/broken-engines/find-fault.ts'
import { temporaryFolder } from '../../../testing/temporary-folder.ts'
import { openStateEngine } from '../../open-state-engine.js'
import { engineToRemote } from '../engine-to-remote.js'
import { createMemoryEngine, createMemoryStore } from '../memory-engine.js'
import { type ContractCase, STATE_ENGINE_CONTRACT } from './engine-contract.js'

describe('the engine on LMDB behind the port of remote engines', () => {
  const folder = temporaryFolder()

  for (const { name, runRemote } of STATE_ENGINE_CONTRACT) {
    it(name, async () => {
      const open = async () => engineToRemote(openStateEngine({ path: folder.path, durability: 'none' }))
      await runRemote(open, { countsEveryDrop: false })
    })
  }
})

describe('the contract finds an engine that', () => {
  it.each(BROKEN_ENGINES)('$fault', async (engine) => {
    expect(await firstFailure(engine.cases, (one) => one.run(openBroken(engine)))).toBeDefined()
  })
})

describe('the contract finds a remote engine that', () => {
  it.each(BROKEN_ENGINES.filter(({ fault }) => !BEYOND_REMOTE_PORT.has(fault)))('$fault', async (engine) => {
    const run = (one: ContractCase) => {
      const open = openBroken(engine)
      return one.runRemote(async () => engineToRemote(open()))
    }
    expect(await firstFailure(engine.cases, run)).toBeDefined()
  })

  it.each(BROKEN_SNAPSHOTS)('$fault', async ({ breakEngine }) => {
    const run = (one: ContractCase) => {
      const store = createMemoryStore()
      return one.runRemote(async () => breakEngine(engineToRemote(createMemoryEngine(store))))
    }
    expect(await firstFailure(STATE_ENGINE_CONTRACT, run)).toBeDefined()
  })
})
