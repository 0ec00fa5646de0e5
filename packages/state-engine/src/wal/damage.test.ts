import { Buffer } from 'node:buffer'
import { cpSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { isLedgerStateError } from '@ledger-state/core'
import { createRandom, type Random, testSeed } from '@ledger-state/testing/random'
import { isSlowRun } from '@ledger-state/testing/slow-run'
import { scaledRounds } from '@ledger-state/testing/test-scale'
import { describe, expect, it } from 'vitest'
import { moveToAnotherBoot } from '../../testing/another-boot.ts'
import { bytes, CHAIN, record } from '../../testing/small-records.ts'
import { temporaryFolder } from '../../testing/temporary-folder.ts'
import { STORE_FILE } from '../lmdb/lmdb-store.js'
import {
  type LmdbEngineReader,
  openStateEngine,
  openStateEngineReader,
  openWithFailpoints,
  type WriterOptions,
} from '../open-state-engine.js'
import { listWalFiles, walFilePath } from './append-file.js'

const SEED = testSeed()
const random = createRandom(SEED)
const folder = temporaryFolder()
const KEYS = ['a', 'b', 'c'].map(bytes)

/** Makes a closed store with commits in one WAL file, or in two. The first of two is sealed and not merged. */
async function makeStore(options: Partial<WriterOptions>, files: 1 | 2): Promise<string> {
  const path = join(folder.path, 'store')
  const stop = new Error('no merge')
  const engine = openWithFailpoints({ path, ...options, memtableBytes: files === 1 ? 2 ** 26 : 8_000 }, (point) => {
    if (point.startsWith('merge: before')) throw stop
  })
  let version = 0
  const commit = async (text: string) => {
    await engine.commit([record(version, [[KEYS[version % 3]!, bytes(text)]], version)], {
      ...CHAIN,
      mark: bytes(text),
    })
    version++
  }
  for (let count = 0; count < 4 || listWalFiles(path).length < files; count++) await commit(`value ${count}`)
  await commit('before')
  await commit('to be cut off')
  await engine.truncateTo(BigInt(version - 2))
  version--
  for (let count = 0; count < 2; count++) await commit(`after ${count}`)
  await engine.close()
  expect(listWalFiles(path)).toHaveLength(files)
  moveToAnotherBoot(path)
  return path
}

/** All answers of a reader of the store. */
function answersOf(engine: LmdbEngineReader): string {
  const answers = [engine.ledger, engine.mark && Buffer.from(engine.mark).toString('hex')]
  const list = KEYS.map((key) => [...engine.history(key)])
  const versions = [...engine.versions(engine.ledger!.oldestVersion + 1n, engine.ledger!.latestVersion)]
  return JSON.stringify([answers, list, versions], (_, value) => (typeof value === 'bigint' ? `${value}` : value))
}

function isRefused(error: unknown): boolean {
  if (isLedgerStateError(error, 'store_corrupt')) return true
  throw error
}

/** Answers of a reader, or `refused`. */
async function readAnswers(path: string): Promise<string> {
  try {
    const reader = openStateEngineReader({ path })
    try {
      return answersOf(reader)
    } finally {
      await reader.close()
    }
  } catch (error) {
    return isRefused(error) ? 'refused' : ''
  }
}

async function isFoundByCheck(path: string): Promise<boolean> {
  const reader = openStateEngineReader({ path })
  try {
    return (await reader.check()).problems.length > 0
  } catch (error) {
    return isRefused(error)
  } finally {
    await reader.close()
  }
}

/** Answers of a snapshot of the store, or `refused`. */
async function snapshotAnswers(path: string, target: string): Promise<string> {
  const reader = openStateEngineReader({ path })
  try {
    await reader.snapshot(target)
    return await readAnswers(target)
  } catch (error) {
    expect(readdirSync(target)).not.toContain(STORE_FILE)
    return isRefused(error) ? 'refused' : ''
  } finally {
    await reader.close()
    rmSync(target, { recursive: true, force: true })
  }
}

/** Answers of the writer of a copy of the store, or `refused`. */
async function writerAnswers(path: string, copy: string): Promise<string> {
  cpSync(path, copy, { recursive: true })
  try {
    const engine = openStateEngine({ path: copy })
    try {
      return answersOf(engine)
    } finally {
      await engine.close()
    }
  } catch (error) {
    return isRefused(error) ? 'refused' : ''
  } finally {
    rmSync(copy, { recursive: true })
  }
}

type Damage = (file: Buffer, random: Random) => Buffer

const flipBit =
  (at: number, bit: number): Damage =>
  (file) => {
    file[at]! ^= 1 << bit
    return file
  }

const DAMAGES: Readonly<Record<string, Damage>> = {
  'a wrong bit': (file, random) => flipBit(random.below(file.length), random.below(8))(file, random),
  'a wrong byte': (file, random) => {
    const at = random.below(file.length)
    return file.fill(random.below(256), at, at + 1)
  },
  'wrong bytes after some offset': (file, random) => file.fill(random.below(256), random.below(file.length)),
  'zeros after some offset': (file, random) => file.fill(0, random.below(file.length)),
  'a sector of zeros': (file, random) => {
    const at = 512 * random.below(Math.ceil(file.length / 512))
    return file.fill(0, at, Math.min(file.length, at + 512))
  },
  'a short end': (file, random) => file.subarray(0, random.below(file.length)),
  'a missing part': (file, random) => {
    const at = random.below(file.length)
    return Buffer.concat([file.subarray(0, at), file.subarray(at + 1 + random.below(200))])
  },
  'a part that is there twice': (file, random) => {
    const at = random.below(file.length)
    return Buffer.concat([file.subarray(0, at), file.subarray(Math.max(0, at - random.below(300)))])
  },
  'more at its end': (file, random) => Buffer.concat([file, file.subarray(0, random.below(file.length))]),
}

interface DamagedStore {
  readonly path: string
  /** Answers of a reader before the damage. */
  readonly answers: string
}

/** Damages one file of a store for readers. They must answer as before the damage, or throw an error. */
async function withDamage(
  { path, answers }: DamagedStore,
  damage: Damage,
  name: string,
  work: (read: string, where: string) => Promise<void>,
): Promise<void> {
  const number = random.pick(listWalFiles(path))
  const file = walFilePath(path, number)
  const content = readFileSync(file)
  writeFileSync(file, damage(Buffer.from(content), random))
  const where = `${name}, in file ${number} (TEST_SEED=${SEED})`
  const read = await readAnswers(path)
  expect([answers, 'refused'], where).toContain(read)
  await work(read, where)
  writeFileSync(file, content)
}

/** Checks that `check`, snapshots and the writer notice the same damage as readers. */
async function expectNoticed(store: DamagedStore, damage: Damage, name: string): Promise<void> {
  const { path } = store
  await withDamage(store, damage, name, async (read, where) => {
    expect(await isFoundByCheck(path), where).toBe(read === 'refused')
    expect(await snapshotAnswers(path, join(folder.path, 'snapshot')), where).toBe(read)
    expect(await writerAnswers(path, join(folder.path, 'written')), where).toBe(read)
  })
}

const STORES = [
  ['full', 1],
  ['full', 2],
  ['ordered', 1],
  ['ordered', 2],
  ['none', 1],
] as const

describe(`damage to the WAL files of a closed store (TEST_SEED=${SEED})`, () => {
  it.each(STORES)(
    'changes no answer, or is refused by everybody (%s, files: %i)',
    async (durability, files) => {
      const path = await makeStore({ durability }, files)
      const store = { path, answers: await readAnswers(path) }
      for (const [name, damage] of Object.entries(DAMAGES)) {
        for (let count = 0; count < (isSlowRun ? scaledRounds(30) : 2); count++)
          await expectNoticed(store, damage, name)
      }
    },
    600_000,
  )

  it.runIf(isSlowRun)(
    'changes no answer, or is refused by everybody, whichever byte has a wrong bit',
    async () => {
      const path = await makeStore({}, 1)
      const store = { path, answers: await readAnswers(path) }
      const { length } = readFileSync(walFilePath(path, 1))
      for (let at = 0; at < length; at++) {
        const bit = random.below(8)
        const name = `bit ${bit} of byte ${at}`
        // Check, snapshot and writer use the same code as readers, and take many times as long.
        if (at % 4 === 0) await expectNoticed(store, flipBit(at, bit), name)
        else await withDamage(store, flipBit(at, bit), name, async () => {})
      }
    },
    600_000,
  )
})
