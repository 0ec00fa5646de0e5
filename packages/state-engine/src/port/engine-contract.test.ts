import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { openStateEngine } from '../open-state-engine.js'
import { STATE_ENGINE_CONTRACT } from './engine-contract.js'
import { createMemoryEngine } from './memory-engine.js'

describe('the memory engine', () => {
  for (const { name, run } of STATE_ENGINE_CONTRACT) it(name, () => run(createMemoryEngine()))
})

describe('the engine on LMDB', () => {
  for (const { name, run } of STATE_ENGINE_CONTRACT) {
    it(name, async () => {
      const path = mkdtempSync(join(tmpdir(), 'state-engine-'))
      const engine = openStateEngine({ path, durability: 'none' })
      try {
        await run(engine)
        expect((await engine.check()).problems).toEqual([])
      } finally {
        await engine.close()
        rmSync(path, { recursive: true })
      }
    })
  }
})
