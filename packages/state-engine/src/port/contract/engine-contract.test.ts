import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { isSlowRun } from '@ledger-state/testing/slow-run'
import { describe, expect, it } from 'vitest'
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

/** Of the engine on LMDB: how much its table holds before it is merged. The slow run has all three. */
const TABLES = [
  ['that merges every commit', 0],
  ['that merges after some commits', 4_096],
  ['with its usual table', undefined],
] as const

describe.each(TABLES.filter(([, bytes]) => isSlowRun || bytes === 4_096))(
  'the engine on LMDB %s',
  (_, memoryTableBytes) => {
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
  },
)

// The engine on LMDB behind the port of remote engines, and broken engines: engine-contract.slow.test.ts.
