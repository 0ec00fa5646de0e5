import { createRandom, testSeed } from '@ledger-state/testing/random'
import { isSlowRun } from '@ledger-state/testing/slow-run'
import { describe, expect, it } from 'vitest'
import { expectSoundStore } from '../testing/killed-writer.ts'
import { powerLosses, readImage } from '../testing/power-loss/power-losses.ts'
import { readTrace } from '../testing/power-loss/read-trace.ts'
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

describe('a trace', () => {
  it('has the writes to a descriptor that another thread gets while it is being closed', () => {
    const hex = (text: string) => `"${Buffer.from(text).toString('hex').replaceAll(/../g, '\\x$&')}"`
    const lines = [
      `1 openat(AT_FDCWD, ${hex('/store/before')}, O_WRONLY|O_CREAT, 0666) = 20`,
      '1 close(20 <unfinished ...>',
      `2 openat(AT_FDCWD, ${hex('/store/after')}, O_WRONLY|O_CREAT, 0666) = 20`,
      '1 <... close resumed>) = 0',
      `2 pwrite64(20, ${hex('bytes')}, 5, 7) = 5`,
    ].map((line) => ({ thread: line.slice(0, 1), text: line.slice(2) }))
    expect(readTrace('/store', lines)).toEqual([
      { kind: 'create', file: 0, name: 'before' },
      { kind: 'create', file: 1, name: 'after' },
      { kind: 'write', file: 1, at: 7, bytes: Buffer.from('bytes'), isSynced: false },
    ])
  })

  it('has the changes of names that a sync of the folder covers: those before it began', () => {
    const disk = new SimulatedDisk()
    disk.apply({ kind: 'create', file: 0, name: 'before' })
    disk.apply({ kind: 'folder sync began', folder: '', sync: 1 })
    disk.apply({ kind: 'create', file: 1, name: 'meanwhile' })
    disk.apply({ kind: 'folder synced', folder: '', sync: 1 })
    const random = createRandom(SEED)
    const images = Array.from({ length: 100 }, () => [...disk.image(random).keys()])
    expect(images.every((names) => names.includes('before'))).toBe(true)
    expect(images.some((names) => !names.includes('meanwhile'))).toBe(true)
  })
})

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
    disk.apply({ kind: 'folder sync began', folder: '', sync: -1 })
    disk.apply({ kind: 'folder synced', folder: '', sync: -1 })
    for (const event of events!) {
      if (event.kind !== 'create') continue
      disk.apply({ kind: 'sync began', file: event.file, sync: -1 })
      disk.apply({ kind: 'sync ended', file: event.file, sync: -1 })
    }
    expect(disk.image(createRandom(SEED))).toEqual(readImage(path))
    expect([...readImage(path).keys()]).toContain(STORE_FILE)
  })
})
