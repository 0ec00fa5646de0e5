// Runs the contract with all sizes of the memtable, and on the engine on LMDB wrapped in the async port.
import { engineToAsync } from '@ledger-state/engine'
import { STATE_ENGINE_CONTRACT } from '@ledger-state/engine/contract'
import { describe, it } from 'vitest'
import { temporaryFolder } from '../testing/temporary-folder.ts'
import { openStateEngine } from './open-state-engine.js'

describe('the engine on LMDB behind the async port', () => {
  const folder = temporaryFolder()

  for (const { name, runAsync } of STATE_ENGINE_CONTRACT) {
    it(name, async () => {
      const open = async () => engineToAsync(openStateEngine({ path: folder.path, durability: 'none' }))
      await runAsync(open, { countsEveryDrop: false })
    })
  }
})
