import { fileURLToPath } from 'node:url'
import { createRandom, testSeed } from '@ledger-state/testing/random'
import { isSlowRun } from '@ledger-state/testing/slow-run'
import { describe, expect, it } from 'vitest'
import { expectSoundStore } from '../testing/killed-writer.ts'
import { powerLosses, readImage, withImage } from '../testing/power-loss/power-losses.ts'
import { canRecord, recordRun } from '../testing/power-loss/record-run.ts'
import { SimulatedDisk } from '../testing/power-loss/simulated-disk.ts'
import { temporaryFolder } from '../testing/temporary-folder.ts'

const SEED = testSeed()
const SCRIPT = fileURLToPath(new URL('../testing/power-loss/recorded-writer.ts', import.meta.url))
const OPTIONS = '{"memoryTableBytes":20000}'
const folder = temporaryFolder()

// Thousands of images, of imports and upgrades, too: power-loss.slow.test.ts.
describe.skipIf(!canRecord())(`a loss of power (needs strace; TEST_SEED=${SEED})`, () => {
  it('loses nothing that was acknowledged and leaves no block torn', async () => {
    const random = createRandom(SEED)
    const events = await withImage(new Map(), async (path) => recordRun(path, SCRIPT, [path, '200', OPTIONS]))
    for (const { image, printed } of powerLosses(events, random, isSlowRun ? 25 : 10)) {
      await withImage(image, (path) => expectSoundStore(path, printed === undefined ? undefined : BigInt(printed)))
    }
  })

  it.runIf(isSlowRun)('is simulated with all that was written', () => {
    const { path } = folder
    const events = recordRun(path, SCRIPT, [path, '100', OPTIONS])
    const disk = new SimulatedDisk()
    for (const event of events) disk.apply(event)
    disk.apply({ kind: 'folder synced', folder: '' })
    for (const event of events) {
      if (event.kind !== 'create') continue
      disk.apply({ kind: 'sync began', file: event.file, sync: -1 })
      disk.apply({ kind: 'sync ended', file: event.file, sync: -1 })
    }
    expect(disk.image(createRandom(SEED))).toEqual(readImage(path))
    expect([...readImage(path).keys()]).toContain('state.mdb')
  })
})
