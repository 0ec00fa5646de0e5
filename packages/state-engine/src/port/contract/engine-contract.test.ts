import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { BROKEN_ENGINES } from '../../../testing/broken-engines/broken-engines.ts'
import { openStateEngine } from '../../open-state-engine.js'
import { createMemoryEngine, createMemoryStore } from '../memory-engine.js'
import { STATE_ENGINE_CONTRACT } from './engine-contract.js'

describe('the memory engine', () => {
  for (const { name, run } of STATE_ENGINE_CONTRACT) {
    it(name, async () => {
      const store = createMemoryStore()
      await run(() => createMemoryEngine(store), { countsEveryDrop: true })
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

/** The first case that an engine fails, and how. */
async function firstFailure({ breakEngine, cases }: (typeof BROKEN_ENGINES)[number]): Promise<string | undefined> {
  for (const { name, run } of cases) {
    const store = createMemoryStore()
    let openings = 0
    try {
      await run(() => breakEngine(createMemoryEngine(store), openings++), { countsEveryDrop: true })
    } catch (error) {
      return `${name}: ${String(error)}`
    }
  }
  return undefined
}

describe('the contract finds an engine that', () => {
  it.each(BROKEN_ENGINES)('$fault', async (engine) => {
    expect(await firstFailure(engine)).toBeDefined()
  })
})
