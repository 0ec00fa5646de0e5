import { describe, it } from 'vitest'
import { expectSoundStore, runKilledTruncatingWriter, runKilledWriter } from '../testing/killed-writer.ts'
import { temporaryFolder } from '../testing/temporary-folder.ts'
import { expectStore } from '../testing/truncated-ledger.ts'
import { openStateEngine } from './open-state-engine.js'

const folder = temporaryFolder()

// Many rounds, at all points: crash.slow.test.ts.
describe('a writer killed with SIGKILL', () => {
  it('loses nothing that was acknowledged and leaves no batch torn', async () => {
    const kill = { at: 'commit: appended', nth: 3 } as const
    await expectSoundStore(folder.path, await runKilledWriter(folder.path, kill))
  })

  it('has each truncation as a whole', async () => {
    const step = await runKilledTruncatingWriter(folder.path, { at: 'truncation: committed', nth: 2 })
    await expectStore(folder.path, step, (path) => openStateEngine({ path, durability: 'none' }))
  })
})
