import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { BEYOND_REMOTE_PORT } from '../../../testing/broken-engines/beyond-remote-port.ts'
import { BROKEN_ENGINES } from '../../../testing/broken-engines/broken-engines.ts'
import { BROKEN_SNAPSHOTS } from '../../../testing/broken-engines/broken-snapshots.ts'
import { openStateEngine } from '../../open-state-engine.js'
import { engineToRemote } from '../engine-to-remote.js'
import { createMemoryEngine, createMemoryStore } from '../memory-engine.js'
import { type ContractCase, STATE_ENGINE_CONTRACT } from './engine-contract.js'

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

/** The first case that throws, and how. */
async function firstFailure(
  cases: readonly ContractCase[],
  run: (one: ContractCase) => Promise<void>,
): Promise<string | undefined> {
  for (const one of cases) {
    try {
      await run(one)
    } catch (error) {
      return `${one.name}: ${String(error)}`
    }
  }
  return undefined
}

/** Opens a broken engine on a store of its own. */
function openBroken({ breakEngine }: (typeof BROKEN_ENGINES)[number]) {
  const store = createMemoryStore()
  let openings = 0
  return () => breakEngine(createMemoryEngine(store), openings++)
}

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
