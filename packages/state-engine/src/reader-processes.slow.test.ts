import { fork } from 'node:child_process'
import { once } from 'node:events'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { createRandom, testSeed } from '@ledger-state/testing/random'
import { SOURCE_OPTIONS } from '@ledger-state/testing/source-process'
import { expect, it } from 'vitest'
import { KNOWN_CHAIN, knownVersion } from '../testing/known-ledger.ts'
import { temporaryFolder } from '../testing/temporary-folder.ts'
import { openStateEngine } from './open-state-engine.js'

const folder = temporaryFolder()
const SECONDS = Number(process.env.ENGINE_READER_SECONDS ?? (process.env.CI ? 20 : 3))
const SEED = testSeed()
const READER = fileURLToPath(new URL('../testing/checking-reader.ts', import.meta.url))

interface ReaderReport {
  readonly reads: number
  readonly seen: number
  readonly problems: readonly string[]
}

// With small tables there are many rotations, merges and bulk commits.
it.each([50_000, 2_000_000, undefined])(
  `two reader processes answer right beside a writer that merges and prunes, with a table of %s bytes (TEST_SEED=${SEED})`,
  {
    timeout: 300_000,
  },
  async (memoryTableBytes) => {
    const random = createRandom(SEED)
    const engine = openStateEngine({ path: folder.path, durability: 'none', memoryTableBytes })
    let version = 0n
    const commit = () =>
      engine.commit(
        Array.from({ length: 10 }, () => knownVersion(version++)),
        KNOWN_CHAIN,
      )
    await commit()
    const readers = [1, 2].map((at) =>
      fork(READER, [folder.path, String(SEED + at)], { execArgv: [...SOURCE_OPTIONS] }),
    )
    await Promise.all(readers.map((reader) => once(reader, 'message')))
    const results = readers.map((reader) => once(reader, 'message'))
    const until = performance.now() + SECONDS * 1_000
    while (performance.now() < until) {
      await commit()
      if (version % 30n === 0n) await engine.prune(BigInt(20 + random.below(700)))
      if (version % 200n === 0n) await sleep(1)
    }
    for (const reader of readers) reader.send('stop')
    for (const result of results) {
      const [report] = (await result) as [ReaderReport]
      expect(report.problems).toEqual([])
      expect(report.reads).toBeGreaterThan(0)
      expect(report.seen).toBeGreaterThan(0)
    }
    expect((await engine.check()).problems).toEqual([])
    await engine.close()
  },
)
