import { fork } from 'node:child_process'
import { once } from 'node:events'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import type { VersionWrites } from '@ledger-state/core'
import { createRandom, testSeed } from '@ledger-state/testing/random'
import { SOURCE_OPTIONS } from '@ledger-state/testing/source-process'
import { fullRounds } from '@ledger-state/testing/test-scale'
import { expect, it } from 'vitest'
import { KNOWN_CHAIN, knownVersion } from '../testing/known-ledger.ts'
import { temporaryFolder } from '../testing/temporary-folder.ts'
import { openStateEngine } from './open-state-engine.js'

const folder = temporaryFolder()
const SECONDS = fullRounds(6)
const SEED = testSeed()
const READER = fileURLToPath(new URL('../testing/checking-reader.ts', import.meta.url))

interface ReaderReport {
  readonly reads: number
  readonly seen: number
  readonly problems: readonly string[]
}

// With small memtables there are many rotations, merges and bulk commits.
it.each([50_000, 2_000_000, undefined])(
  `two reader processes answer right while a writer merges and prunes, with a memtable of %s bytes (TEST_SEED=${SEED})`,
  async (memtableBytes) => {
    const random = createRandom(SEED)
    const engine = openStateEngine({ path: folder.path, durability: 'none', memtableBytes })
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
    try {
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
    } finally {
      for (const reader of readers) reader.kill('SIGKILL')
      await engine.close()
    }
  },
)

const TRUNCATION_READER = fileURLToPath(new URL('../testing/truncation-reader.ts', import.meta.url))
const KEYS = Array.from({ length: 40 }, (_, at) => Buffer.from(`key ${at}`))

interface TruncationReport {
  readonly truncated: number
  readonly kept: number
  readonly told: number
  readonly problems: readonly string[]
}

/** Makes a version that writes one text to all keys, which no other version of any branch writes. */
function branchVersion(version: bigint, branch: number): VersionWrites {
  const text = Buffer.from(`${version} of branch ${branch}`.padEnd(version % 9n === 0n ? 2_000 : 30))
  const block = { height: version, epoch: 0n, timestampUsec: version }
  return { version, block, writes: KEYS.map((key) => [key, text] as const) }
}

it.each([0, 200_000, undefined])(
  `a reader process mixes no branches while a writer truncates, with a memtable of %s bytes (TEST_SEED=${SEED})`,
  async (memtableBytes) => {
    const random = createRandom(SEED)
    const engine = openStateEngine({ path: folder.path, durability: 'none', memtableBytes })
    let branch = 0
    const commit = () => {
      const next = engine.ledger ? engine.ledger.latestVersion + 1n : 0n
      return engine.commit([branchVersion(next, branch), branchVersion(next + 1n, branch)], KNOWN_CHAIN)
    }
    for (let count = 0; count < 60; count++) await commit()
    const args = [folder.path, String(SEED), String(KEYS.length)]
    const reader = fork(TRUNCATION_READER, args, { execArgv: [...SOURCE_OPTIONS] })
    try {
      await once(reader, 'message')
      let isEnough = false
      const report = new Promise<TruncationReport>((resolve) => {
        reader.on('message', (message) => {
          isEnough = true
          if (typeof message === 'object') resolve(message as TruncationReport)
        })
      })
      while (!isEnough) {
        for (let count = 0; count < 4; count++) await commit()
        const { oldestVersion, latestVersion } = engine.ledger!
        const cut = BigInt(random.below(random.below(4) === 0 ? 100 : 8))
        const left = latestVersion - cut
        branch++
        await engine.truncateTo(left > oldestVersion ? left : oldestVersion)
        if (random.below(8) === 0) await engine.prune(150n)
        await sleep(random.below(30))
      }
      if (reader.connected) reader.send('stop')
      const { problems, truncated, kept, told } = await report
      expect(problems).toEqual([])
      expect(Math.min(truncated, kept, told)).toBeGreaterThan(0)
      expect((await engine.check()).problems).toEqual([])
    } finally {
      reader.kill('SIGKILL')
      await engine.close()
    }
  },
)
