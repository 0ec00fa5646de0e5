import { createRandom, testSeed } from '@ledger-state/testing/random'
import { isSlowRun } from '@ledger-state/testing/slow-run'
import { describe, expect, it } from 'vitest'
import { expectSoundStore } from '../testing/killed-writer.ts'
import { powerLosses, readImage } from '../testing/power-loss/power-losses.ts'
import { recordInMemory } from '../testing/power-loss/record-in-memory.ts'
import { canRecord, recordRuns } from '../testing/power-loss/record-run.ts'
import type { RecordedRun } from '../testing/power-loss/recorded-run.ts'
import { SimulatedDisk } from '../testing/power-loss/simulated-disk.ts'
import { LossTrial } from '../testing/power-loss/try-losses.ts'
import { temporaryFolder } from '../testing/temporary-folder.ts'
import { STORE_FILE } from './lmdb/lmdb-store.js'

const SEED = testSeed()
const RUN: RecordedRun = {
  kind: 'commits',
  options: { memtableBytes: 20_000 },
  commits: 15,
  versionsPerCommit: 10,
  retained: 60,
  commitsBetweenOpenings: 12,
}
const folder = temporaryFolder()

// Thousands of images, of imports, too: power-loss.slow.test.ts.
describe.skipIf(!canRecord())(`a loss of power (needs strace; TEST_SEED=${SEED})`, () => {
  it('loses nothing that was acknowledged and leaves no block torn', async () => {
    const [events] = await recordInMemory([RUN])
    const losses = powerLosses(events!, createRandom(SEED), isSlowRun ? 25 : 10)
    await new LossTrial('commits', SEED).each(losses, (path, { printed }) =>
      expectSoundStore(path, printed === undefined ? undefined : BigInt(printed)),
    )
  })

  it.runIf(isSlowRun)('is simulated with all that was written', () => {
    const { path } = folder
    const [events] = recordRuns([{ folder: path, run: RUN }])
    const disk = new SimulatedDisk()
    for (const event of events!) disk.apply(event)
    disk.apply({ kind: 'folder synced', folder: '' })
    for (const event of events!) {
      if (event.kind !== 'create') continue
      disk.apply({ kind: 'sync began', file: event.file, sync: -1 })
      disk.apply({ kind: 'sync ended', file: event.file, sync: -1 })
    }
    expect(disk.image(createRandom(SEED))).toEqual(readImage(path))
    expect([...readImage(path).keys()]).toContain(STORE_FILE)
  })
})
