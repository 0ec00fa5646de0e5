import { nearestInHistory, nearestWrite, type SearchingReader } from '@ledger-state/engine'
import { createRandom, testSeed } from '@ledger-state/testing/random'
import { expect, it } from 'vitest'
import { bytes, CHAIN, record } from '../testing/small-records.ts'
import { temporaryFolder } from '../testing/temporary-folder.ts'
import { openStateEngine, openStateEngineReader } from './open-state-engine.js'

const folder = temporaryFolder()
const KEYS = ['a', 'b', 'c'].map(bytes)
const COUNT = 60

/** Compares each search with the history of the key. */
function expectAsInHistory(engine: SearchingReader): void {
  expect(engine.nearestWrite).toBeTypeOf('function')
  const { oldestVersion, latestVersion } = engine.ledger!
  for (const key of [...KEYS, bytes('absent')]) {
    for (let version = oldestVersion; version <= latestVersion; version++) {
      const upTo = { until: version }
      expect(nearestWrite(engine, key, upTo), `until ${version}`).toBe(nearestInHistory(engine, key, upTo))
      const above = { above: version, last: latestVersion }
      expect(nearestWrite(engine, key, above), `above ${version}`).toBe(nearestInHistory(engine, key, above))
    }
  }
}

it.each([
  ['memtable', undefined],
  ['file', 0],
])(
  'the nearest write in the %s is that of the history, even if it is a deletion or before the window',
  async (name, memtableBytes) => {
    const random = createRandom(testSeed())
    const path = `${folder.path}/${name}`
    const engine = openStateEngine({ path, durability: 'none', ...(memtableBytes !== undefined && { memtableBytes }) })
    for (let version = 0; version < COUNT; version++) {
      const written = KEYS.filter(() => random.below(6) === 0)
      const writes = written.map((key) => [key, random.below(3) === 0 ? null : bytes(`value ${version}`)] as const)
      await engine.commit([record(version, writes, version)], CHAIN)
    }
    expectAsInHistory(engine)
    const reader = openStateEngineReader({ path })
    expectAsInHistory(reader)
    await engine.prune(BigInt(COUNT / 2))
    expectAsInHistory(engine)
    expectAsInHistory(reader)
    await reader.close()
    await engine.close()
  },
)
