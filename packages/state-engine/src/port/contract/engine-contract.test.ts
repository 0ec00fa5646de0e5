import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { BROKEN_ENGINES } from '../../../testing/broken-engines/broken-engines.ts'
import { firstFailure, openBroken } from '../../../testing/broken-engines/find-fault.ts'
import { openStateEngine } from '../../open-state-engine.js'
import { engineToRemote } from '../engine-to-remote.js'
import { createMemoryEngine, createMemoryStore } from '../memory-engine.js'
import { STATE_ENGINE_CONTRACT } from './engine-contract.js'

describe('the memory engine', () => {
  for (const { name, run, runRemote } of STATE_ENGINE_CONTRACT) {
    it(name, async () => {
      const store = createMemoryStore()
      await run(() => createMemoryEngine(store), { countsEveryDrop: true })
    })

    it(`${name} (remote)`, async () => {
      const store = createMemoryStore()
      await runRemote(async () => engineToRemote(createMemoryEngine(store)), { countsEveryDrop: true })
    })
  }
})

describe.each([
  ['that merges every commit', 0],
  ['that merges after some commits', 4_096],
  ['with its usual table', undefined],
])('the engine on LMDB %s', (_, memoryTableBytes) => {
  for (const { name, run } of STATE_ENGINE_CONTRACT) {
    it(name, async () => {
      const path = mkdtempSync(join(tmpdir(), 'state-engine-'))
      const open = () => openStateEngine({ path, durability: 'none', memoryTableBytes })
      try {
        await run(open, { countsEveryDrop: memoryTableBytes === 0 })
        const engine = open()
        expect((await engine.check()).problems).toEqual([])
        await engine.close()
      } finally {
        rmSync(path, { recursive: true })
      }
    })
  }
})

describe('the engine on LMDB behind the port of remote engines', () => {
  for (const { name, runRemote } of STATE_ENGINE_CONTRACT) {
    it(name, async () => {
      const path = mkdtempSync(join(tmpdir(), 'state-engine-'))
      try {
        await runRemote(async () => engineToRemote(openStateEngine({ path, durability: 'none' })), {
          countsEveryDrop: false,
        })
      } finally {
        rmSync(path, { recursive: true })
      }
    })
  }
})

// Broken engines behind the port of remote engines: engine-contract.slow.test.ts.
describe('the contract finds an engine that', () => {
  it.each(BROKEN_ENGINES)('$fault', async (engine) => {
    expect(await firstFailure(engine.cases, (one) => one.run(openBroken(engine)))).toBeDefined()
  })
})
