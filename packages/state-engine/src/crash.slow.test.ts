import { createRandom, testSeed } from '@ledger-state/testing/random'
import { scaledRounds } from '@ledger-state/testing/test-scale'
import { describe, expect, it } from 'vitest'
import { expectSoundStore, runKilledTruncatingWriter, runKilledWriter } from '../testing/killed-writer.ts'
import { temporaryFolder } from '../testing/temporary-folder.ts'
import { expectStore } from '../testing/truncated-ledger.ts'
import { TRUNCATION_POINTS } from '../testing/truncation-points.ts'
import type { Failpoint } from './failpoints/failpoints.js'
import { openStateEngine, openStateEngineReader, type StateEngine } from './open-state-engine.js'

const folder = temporaryFolder()
const ROUNDS = scaledRounds(30)
const ROUNDS_AT_A_POINT = Math.ceil(ROUNDS / 10)
const SEED = testSeed()

/** Failpoints that only a writer that truncates reaches. */
const POINTS_OF_TRUNCATING: readonly Failpoint[] = [
  ...TRUNCATION_POINTS,
  'mark: appended',
  'mark: synced',
  'rotation: sealed',
  'bulk: committed',
  'prune: step done',
]

function openHere(path: string): StateEngine {
  return openStateEngine({ path, durability: 'none', memtableBytes: 60_000 })
}

describe(`a writer killed with SIGKILL (TEST_SEED=${SEED})`, () => {
  const random = createRandom(SEED)

  it('loses nothing that was acknowledged and leaves no batch torn, at any moment', async () => {
    for (let round = 0; round < ROUNDS; round++) {
      await expectSoundStore(folder.path, await runKilledWriter(folder.path, { afterMs: random.below(60) }))
    }
  })

  const points: readonly Failpoint[] = [
    'commit: began',
    'commit: appended',
    'commit: synced',
    'commit: done',
    'rotation: file created',
    'rotation: sealed',
    'bulk: file created',
    'bulk: before the transaction ends',
    'bulk: committed',
    'merge: before the transaction ends',
    'merge: done',
    'merge: file removed',
    'prune: floor raised',
    'prune: step done',
    'level: began',
    'level: file written',
    'level: before the transaction ends',
    'level: done',
    'level: files removed',
  ]
  it.each(points)('loses nothing that was acknowledged and leaves no batch torn at the failpoint ‘%s’', async (at) => {
    for (let round = 0; round < ROUNDS_AT_A_POINT; round++) {
      await expectSoundStore(folder.path, await runKilledWriter(folder.path, { at, nth: 1 + random.below(8) }))
    }
  })

  it('has each truncation as a whole or not at all, at any moment', async () => {
    for (let round = 0; round < ROUNDS; round++) {
      const step = await runKilledTruncatingWriter(folder.path, { afterMs: random.below(200) })
      await expectStore(folder.path, step, openHere)
    }
  })

  it.each(POINTS_OF_TRUNCATING)('has each truncation as a whole or not at all at the failpoint ‘%s’', async (at) => {
    for (let round = 0; round < ROUNDS_AT_A_POINT; round++) {
      const step = await runKilledTruncatingWriter(folder.path, { at, nth: 1 + random.below(8) })
      await expectStore(folder.path, step, openHere)
    }
  })

  it.each([
    ['import: part done', 1, 0],
    ['import: part done', 3, 10_000],
    ['import: before it counts', 1, 12_000],
  ] as const)('leaves an empty store and whole parts at ‘%s’, time %i', async (at, nth, kept) => {
    const { path } = folder
    for (let round = 0; round < ROUNDS_AT_A_POINT; round++) {
      await runKilledWriter(path, { at, nth })
      const reader = openStateEngineReader({ path })
      expect(reader.ledger).toBeUndefined()
      await reader.close()
      const engine = openStateEngine({ path })
      expect(engine.ledger).toBeUndefined()
      expect((await engine.check()).problems).toEqual([])
      expect(await engine.beginImport(0n, { resume: true })).toMatchObject({ entryCount: kept })
      expect(await engine.beginImport(0n)).toMatchObject({ entryCount: 0 })
      expect(engine.stats).toMatchObject({ keys: 0, payloadBytes: 0 })
      await engine.close()
    }
  })

  it('has the whole import at ‘import: done’', async () => {
    await runKilledWriter(folder.path, { at: 'import: done', nth: 1 })
    const engine = openStateEngine({ path: folder.path })
    expect(engine.ledger).toMatchObject({ latestVersion: 0n })
    expect((await engine.check()).problems).toEqual([])
    await engine.close()
  })
})
