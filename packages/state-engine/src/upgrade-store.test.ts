import { cpSync, existsSync, mkdirSync, readdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { VersionWrites, Write } from '@ledger-state/core'
import { createRandom, type Random, testSeed } from '@ledger-state/testing/random'
import { open } from 'lmdb'
import { describe, expect, it } from 'vitest'
import { knownVersion } from '../testing/known-ledger.ts'
import { type Layout3Content, writeLayout3Store } from '../testing/layout-3-store.ts'
import { SMALL_COPY } from '../testing/small-copy.ts'
import { bytes, record } from '../testing/small-records.ts'
import { temporaryFolder } from '../testing/temporary-folder.ts'
import { acquireWriterLock } from './lmdb/writer-lock.js'
import { type LmdbEngineReader, openStateEngine, openStateEngineReader } from './open-state-engine.js'
import { createMemoryEngine } from './port/memory-engine.js'
import type { StateWriter } from './port/ports.js'
import { copyStore } from './upgrade/copy-store.js'
import { Layout3Store } from './upgrade/layout-3-store.js'
import { createPace } from './upgrade/pace.js'
import { upgradeStore } from './upgrade-store.js'
import { neverFail } from './write/failure-points.js'

const SEED = testSeed()
const folder = temporaryFolder()
const EVERY_KEY = new Uint8Array(0)
const at = (name: string) => join(folder.path, name)

/** A ledger with deep and short histories, long keys, long values, deletions, and versions without writes. */
function ledger(count: number, random: Random): VersionWrites[] {
  const longKeys = [1_900, 1_901, 2_500, 2_500, 60_000].map((length, at) =>
    Buffer.alloc(length, 'long').fill(at, length - 1),
  )
  return Array.from({ length: count }, (_, at) => {
    const known = knownVersion(BigInt(at))
    const writes: Write[] = at % 9 === 0 ? [] : [...known.writes]
    if (at % 9 !== 0) writes.push([Buffer.from(`sparse ${random.below(500)}`), random.pick([null, random.bytes(8)])])
    if (at % 5 === 1) writes.push([random.pick(longKeys), random.pick([null, Buffer.alloc(random.below(9_000), at)])])
    return { ...known, writes }
  })
}

/** Everything that the window of a store holds. */
function content(engine: LmdbEngineReader | StateWriter) {
  const { oldestVersion, latestVersion } = engine.ledger!
  return {
    ledger: engine.ledger,
    complete: engine.base!.complete,
    mark: engine.mark && Buffer.from(engine.mark),
    state: [...engine.at(oldestVersion).scan(EVERY_KEY)].map((entry) => ({
      ...entry,
      key: Buffer.from(entry.key).toString('latin1'),
      value: Buffer.from(entry.value).toString('latin1'),
    })),
    versions: [...engine.versions(oldestVersion + 1n, latestVersion)].map(({ writes, ...rest }) => ({
      ...rest,
      writes: writes.map(([key, value]) => [
        Buffer.from(key).toString('latin1'),
        value && Buffer.from(value).toString('latin1'),
      ]),
    })),
  }
}

/** What a store of this content answers, by the model. */
async function expected({ chainId, versions, oldestVersion, mark }: Layout3Content) {
  const model = createMemoryEngine()
  await model.commit(versions, { chainId, mark })
  const latest = versions.at(-1)!.version
  if (oldestVersion !== undefined) await model.prune(latest - oldestVersion + 1n)
  expect(model.ledger!.oldestVersion).toBe(oldestVersion ?? versions[0]!.version)
  return content(model)
}

async function expectCopy(path: string, of: Layout3Content): Promise<void> {
  const engine = openStateEngine({ path, verifyReads: true })
  try {
    expect(content(engine)).toEqual(await expected(of))
    expect((await engine.check()).problems).toEqual([])
  } finally {
    await engine.close()
  }
  expect(existsSync(join(path, 'upgrading'))).toBe(false)
}

describe(`upgradeStore (TEST_SEED=${SEED})`, () => {
  it('reads what the page on layout 3 shows, and the fixtures are written so', async () => {
    const versions = [
      record(0, [[bytes('a'), bytes('one')]], 0),
      record(1, [
        [bytes('a'), bytes('two')],
        [bytes('b'), bytes('x')],
      ]),
      record(2, [[bytes('b'), null]]),
    ]
    await writeLayout3Store(at('old'), { chainId: 7n, versions })
    const root = open({ path: at('old/state.mdb'), noSubdir: true, maxDbs: 8, readOnly: true })
    const hex = (name: string) =>
      [...root.openDB({ name, encoding: 'binary', keyEncoding: 'binary' }).getRange({})].map(
        ({ key, value }) => `${(key as Buffer).toString('hex')} ${(value as Buffer).toString('hex')}`,
      )
    expect(hex('latest')).toEqual([
      '6b61 00010000000000000000000000000001000000000000000074776f4836d798',
      '6b62 010100000000000100000000000000020000000000000001b6aba157',
    ])
    expect(hex('log')).toEqual([
      '0000000000000001000000000000 006f6e659aaa72b1',
      '0000000000000002000000000001 007819579e25',
    ])
    expect(hex('retired')).toEqual(['0000000000000002000000000000 0100026b6253b0d0c6'])
    expect(hex('blocks')).toEqual([`${'0'.repeat(28)} ${'0'.repeat(48)}a3c1ca20`])
    await root.close()
    await upgradeStore(at('old'), at('new'))
    await expectCopy(at('new'), { chainId: 7n, versions })
  })

  it('copies every version of the window, with blocks, mark and ledger', async () => {
    const random = createRandom(SEED)
    const versions = ledger(400, random)
    const mark = random.bytes(40)
    const oldest = [0n, 395n, BigInt(5 * random.below(80))]
    for (const [name, oldestVersion] of oldest.entries()) {
      const source = { chainId: name === 0 ? 7n : 2n ** 40n, versions, oldestVersion, mark }
      await writeLayout3Store(at(`old ${name}`), source)
      const copied = await upgradeStore(at(`old ${name}`), at(`new ${name}`))
      expect(copied).toMatchObject({ oldestVersion, latestVersion: 399n })
      await expectCopy(at(`new ${name}`), source)
    }
  })

  it('copies a store that begins at a later version, and one of a single version', async () => {
    const later = Array.from({ length: 20 }, (_, at) => knownVersion(1_000n + BigInt(at)))
    for (const [name, complete] of [false, true].entries()) {
      for (const versions of [later, later.slice(0, 1)]) {
        const old = at(`old ${name} ${versions.length}`)
        await writeLayout3Store(old, { chainId: 7n, versions, complete, mark: bytes('mark') })
        await upgradeStore(old, `${old} new`)
        const copy = openStateEngineReader({ path: `${old} new` })
        expect(copy.base).toEqual({ version: 1_000n, complete })
        expect(Buffer.from(copy.mark!).toString()).toBe('mark')
        expect(copy.ledger!.latestVersion).toBe(versions.at(-1)!.version)
        await copy.close()
      }
    }
  })

  it('leaves the old store as it is, and goes on after it was interrupted', async () => {
    const versions = ledger(600, createRandom(SEED))
    const source = { chainId: 7n, versions, oldestVersion: 300n }
    await writeLayout3Store(at('old'), source)
    const before = readFileSync(at('old/state.mdb'))
    const steps = new Set<string>()
    for (let reports = 1; ; reports++) {
      const controller = new AbortController()
      let left = reports
      const onProgress = ({ step }: { step: string }) => {
        steps.add(step)
        if (--left === 0) controller.abort()
      }
      const done = await upgradeStore(at('old'), at('new'), { onProgress, signal: controller.signal }).then(
        () => true,
        (error) => {
          expect(error.name).toBe('AbortError')
          return false
        },
      )
      if (done) break
      expect(existsSync(at('new/state.mdb'))).toBe(false)
    }
    expect([...steps]).toEqual(['pages', 'state', 'versions', 'check', 'comparison'])
    await expectCopy(at('new'), source)
    expect(readFileSync(at('old/state.mdb')).equals(before)).toBe(true)
  })

  it('resumes between any two parts of the state and any two commits', async () => {
    const versions = ledger(200, createRandom(SEED))
    const source = { chainId: 7n, versions, oldestVersion: 100n, mark: bytes('mark') }
    await writeLayout3Store(at('old'), source)
    const old = new Layout3Store(at('old'))
    for (let resumed = 0, isDone = false; !isDone; resumed++) {
      const controller = new AbortController()
      let left = 2
      const onProgress = () => {
        if (--left === 0) controller.abort()
      }
      const engine = openStateEngine({ path: at('new'), memoryTableBytes: resumed % 3 === 0 ? 0 : 20_000 })
      const pace = createPace(onProgress, controller.signal, neverFail)
      isDone = await copyStore(old, engine, at('new'), pace, SMALL_COPY).then(
        () => true,
        () => false,
      )
      await engine.close()
      expect(controller.signal.aborted).toBe(!isDone)
      if (isDone) expect(resumed).toBeGreaterThan(30)
    }
    await old.close()
    await expectCopy(at('new'), source)
  })

  it('finishes when it was cut short while the copy got its name', async () => {
    const source = { chainId: 7n, versions: ledger(50, createRandom(SEED)) }
    await writeLayout3Store(at('old'), source)
    await upgradeStore(at('old'), at('whole'))
    const files = readdirSync(at('whole')).filter((name) => /^(state\.mdb|write-ahead-\d+)$/.test(name))
    // The data file comes last.
    const order = [...files.filter((name) => name !== 'state.mdb').sort(), 'state.mdb']
    for (let moved = 1; moved <= order.length; moved++) {
      const path = at(`new ${moved}`)
      mkdirSync(join(path, 'upgrading'), { recursive: true })
      for (const name of files) cpSync(at(`whole/${name}`), join(path, 'upgrading', name))
      for (const name of order.slice(0, moved)) renameSync(join(path, 'upgrading', name), join(path, name))
      await upgradeStore(at('old'), path)
      await expectCopy(path, source)
    }
  })

  it('refuses other places and other stores, and names them', async () => {
    const versions = ledger(50, createRandom(SEED))
    await writeLayout3Store(at('old'), { chainId: 7n, versions })
    await expect(upgradeStore(at('absent'), at('new'))).rejects.toMatchObject({ code: 'store_missing' })
    expect(existsSync(at('absent'))).toBe(false)
    await expect(upgradeStore(at('old'), at('old'))).rejects.toMatchObject({ code: 'invalid_argument' })
    mkdirSync(at('taken'))
    writeFileSync(at('taken/state.mdb'), 'x')
    await expect(upgradeStore(at('old'), at('taken'))).rejects.toMatchObject({ code: 'store_not_empty' })

    const release = acquireWriterLock(at('old/writer.lock'))
    await expect(upgradeStore(at('old'), at('new'))).rejects.toMatchObject({ code: 'store_locked' })
    release()

    const other = openStateEngine({ path: at('half/upgrading') })
    await other.commit([record(0, [], 0)], { chainId: 8 })
    await other.close()
    await expect(upgradeStore(at('old'), at('half'))).rejects.toMatchObject({
      code: 'store_not_empty',
      message: expect.stringContaining(`${at('half')} has what an upgrade of another store left (of chain 8, not 7)`),
    })
  })

  it('names pages of the old store that are damaged', async () => {
    const random = createRandom(SEED)
    const source = { chainId: 7n, versions: ledger(300, random) }
    await writeLayout3Store(at('sound'), source)
    let named = 0
    for (let round = 0; round < 8; round++) {
      const [old, copy] = [at(`old ${round}`), at(`new ${round}`)]
      cpSync(at('sound'), old, { recursive: true })
      const bytes = readFileSync(join(old, 'state.mdb'))
      const page = 2 + random.below(bytes.length / 4_096 - 2)
      bytes.fill(0, 4_096 * page, 4_096 * (page + 1))
      writeFileSync(join(old, 'state.mdb'), bytes)
      // Some pages are free.
      await upgradeStore(old, copy).then(
        () => expectCopy(copy, source),
        (error) => {
          expect(error).toMatchObject({ code: 'store_corrupt' })
          if ((error as Error).message.includes(`page ${page} `)) named++
        },
      )
    }
    expect(named).toBeGreaterThan(3)
  })

  it('finds every record of the old store that is damaged', async () => {
    const versions = ledger(300, createRandom(SEED))
    await writeLayout3Store(at('old'), { chainId: 7n, versions })
    for (const name of ['latest', 'log', 'index', 'large', 'blocks', 'meta']) {
      cpSync(at('old'), at(name), { recursive: true })
      const root = open({ path: at(`${name}/state.mdb`), noSubdir: true, maxDbs: 8 })
      const table = root.openDB({ name, encoding: 'binary', keyEncoding: 'binary' })
      const keys = [...table.getKeys({})].filter((key) => String(key) !== 'layout')
      const key = keys[createRandom(SEED).below(keys.length)]!
      const value = Buffer.from(table.getBinary(key)!)
      value[value.length >> 1]! ^= 1
      table.putSync(key, value)
      await root.close()
      await expect(upgradeStore(at(name), at(`${name} new`))).rejects.toMatchObject({ code: 'store_corrupt' })
      expect(existsSync(at(`${name} new/state.mdb`))).toBe(false)
    }
  })
})
