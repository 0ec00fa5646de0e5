import { statSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'
import type { VersionWrites, Write } from '@ledger-state/core'
import { createMemoryEngine, type StateEngineReader } from '@ledger-state/engine'
import { createRandom, testSeed } from '@ledger-state/testing/random'
import { describe, expect, it } from 'vitest'
import { bytes, CHAIN, record } from '../../testing/small-records.ts'
import { temporaryFolder } from '../../testing/temporary-folder.ts'
import type { Failpoint } from '../failpoints/failpoints.js'
import { openStateEngine, openStateEngineReader, openWithFailpoints, type StateEngine } from '../open-state-engine.js'
import { listWalFiles, walFilePath } from '../wal/append-file.js'
import { RECORD_HEADER_LENGTH } from '../wal/record.js'

const SEED = testSeed()
const folder = temporaryFolder()

function busyVersion(version: number): VersionWrites {
  const writes: Write[] = [
    [bytes('busy'), bytes(`v${version}`)],
    [
      bytes(`key ${version % 50}`),
      version % 7 === 0 ? null : bytes(`${version}`.padEnd(version % 11 === 0 ? 5_000 : 9)),
    ],
  ]
  if (version % 3 === 0) writes.push([bytes(`once ${version}`), bytes('x'.padEnd(2_000))])
  return record(version, writes, version)
}

function historyOf(engine: StateEngine, key: string): bigint[] {
  return [...engine.history(bytes(key), { order: 'asc' })].map(({ version }) => version)
}

async function expectSound(engine: StateEngine): Promise<void> {
  expect((await engine.check()).problems).toEqual([])
}

/** Waits until a reader sees a version. */
async function untilSeen(reader: StateEngineReader, latestVersion: bigint): Promise<void> {
  for (let tries = 0; reader.ledger?.latestVersion !== latestVersion; tries++) {
    expect(tries).toBeLessThan(3_000)
    await sleep(5)
  }
}

describe(`a truncation (TEST_SEED=${SEED})`, () => {
  it('cuts a deep history, wherever it ends', async () => {
    const engine = openStateEngine({ path: folder.path, durability: 'none', memtableBytes: 0 })
    for (let version = 0; version < 500; version++) await engine.commit([busyVersion(version)], CHAIN)
    for (const last of [499, 480, 311, 40, 0]) {
      await engine.truncateTo(BigInt(last))
      expect(historyOf(engine, 'busy')).toEqual(Array.from({ length: last + 1 }, (_, at) => BigInt(at)))
      await engine.commit([busyVersion(last + 1)], CHAIN)
      expect(engine.at(BigInt(last) + 1n).get(bytes('busy'))).toEqual(Buffer.from(`v${last + 1}`))
      expect(engine.stats).toMatchObject({ blocks: last + 2 })
      await expectSound(engine)
    }
    await engine.close()
  })

  it('is one record if the versions are not merged, and does not change merged ones', async () => {
    const reached = new Set<Failpoint>()
    const engine = openWithFailpoints({ path: folder.path, durability: 'none' }, (point) => reached.add(point))
    for (let version = 0; version < 100; version++) await engine.commit([busyVersion(version)], CHAIN)
    const [file] = listWalFiles(folder.path).slice(-1)
    const size = () => statSync(walFilePath(folder.path, file!)).size
    const before = size()
    await engine.truncateTo(40n)
    expect(size() - before).toBe(RECORD_HEADER_LENGTH + 21 + 8 + 24)
    await engine.truncateTo(0n)
    expect(reached).toContain('truncation: appended')
    expect(reached).not.toContain('truncation: file created')
    await expectSound(engine)
    await engine.close()
  })

  it('cuts versions of the newest WAL file, of one that is written into a segment file, and of segment files', async () => {
    const random = createRandom(SEED)
    const reached = new Set<Failpoint>()
    const engine = openWithFailpoints({ path: folder.path, durability: 'none', memtableBytes: 64_000 }, (point) =>
      reached.add(point),
    )
    const model = createMemoryEngine()
    let version = 0
    const commit = async () => {
      const write: Write = [bytes(`key ${version % 90}`), bytes(`${version}`.padEnd(100))]
      const versions = [record(version, [write], version++)]
      await Promise.all([engine.commit(versions, CHAIN), model.commit(versions, CHAIN)])
    }
    for (let round = 0; round < 60; round++) {
      for (let more = 1 + random.below(400); more > 0; more--) await commit()
      const cut = random.below(random.pick([4, 300, 800]))
      const last = Math.max(0, version - 1 - cut)
      await Promise.all([engine.truncateTo(BigInt(last)), model.truncateTo(BigInt(last))])
      version = last + 1
      await commit()
      for (const at of [BigInt(version - 1), BigInt(last), BigInt(last >> 1)]) {
        const expected = [...model.at(at).scan(new Uint8Array(0))].map((one) => [one.version, Buffer.from(one.value)])
        const found = [...engine.at(at).scan(new Uint8Array(0))].map((one) => [one.version, Buffer.from(one.value)])
        expect(found).toEqual(expected)
      }
      if (round % 6 === 0) await expectSound(engine)
    }
    for (const point of ['truncation: appended', 'truncation: file created', 'merge: done', 'level: done'] as const)
      expect(reached).toContain(point)
    await expectSound(engine)
    await engine.close()
  })

  it('lets a reader with its own memtable answer for the remaining versions, before and after further commits', async () => {
    const engine = openStateEngine({ path: folder.path, durability: 'none', memtableBytes: 0 })
    for (let version = 0; version < 60; version++) await engine.commit([busyVersion(version)], CHAIN)
    const reader = openStateEngineReader({ path: folder.path })
    const [kept, cut] = [reader.at(20n), reader.at(40n)]
    const expected = [...kept.scan(bytes(''))]
    await engine.truncateTo(30n)
    await untilSeen(reader, 30n)
    const expectRight = () => {
      expect([...kept.scan(bytes(''))]).toEqual(expected)
      expect(() => cut.get(bytes('busy'))).toThrow(expect.objectContaining({ code: 'version_truncated' }))
      expect(() => reader.at(31n)).toThrow(expect.objectContaining({ code: 'version_not_found' }))
      expect(Buffer.from(reader.at().get(bytes('busy'))!).toString()).toBe('v30')
    }
    expectRight()
    expect((await reader.check()).problems).toEqual([])
    await engine.commit([busyVersion(31)], CHAIN)
    await untilSeen(reader, 31n)
    await engine.truncateTo(30n)
    await untilSeen(reader, 30n)
    expectRight()
    await reader.close()
    await engine.close()
  })

  it('is whole when it is aborted after it was committed, and nothing when it is aborted before', async () => {
    const aborted = new Error('aborted by the test')
    let abortAt: Failpoint | undefined
    const options = { path: folder.path, durability: 'none', memtableBytes: 0 } as const
    const engine = openWithFailpoints(options, (point) => {
      if (point === abortAt) throw aborted
    })
    for (let version = 0; version < 3; version++) await engine.commit([busyVersion(version)], CHAIN)
    abortAt = 'truncation: committed'
    await expect(engine.truncateTo(0n)).rejects.toBe(aborted)
    expect(engine.ledger?.latestVersion).toBe(0n)
    await expectSound(engine)
    abortAt = 'truncation: before the transaction ends'
    await engine.commit([busyVersion(1)], CHAIN)
    await expect(engine.truncateTo(0n)).rejects.toMatchObject({ cause: aborted })
    expect(historyOf(engine, 'busy')).toEqual([0n, 1n])
    await expectSound(engine)
    abortAt = undefined
    await engine.truncateTo(0n)
    await engine.commit([busyVersion(1)], CHAIN)
    expect(historyOf(engine, 'busy')).toEqual([0n, 1n])
    await expectSound(engine)
    await engine.close()
  })

  it('is there for the next writer', async () => {
    let engine = openStateEngine({ path: folder.path, durability: 'none', memtableBytes: 0 })
    for (let version = 0; version < 60; version++) await engine.commit([busyVersion(version)], CHAIN)
    await engine.truncateTo(30n)
    await engine.close()
    engine = openStateEngine({ path: folder.path, durability: 'none', memtableBytes: 0 })
    await expectSound(engine)
    await engine.commit([busyVersion(31)], CHAIN)
    expect(historyOf(engine, 'busy').at(-1)).toBe(31n)
    expect(engine.ledger?.truncations).toEqual([{ number: 1, version: 30n }])
    await expectSound(engine)
    await engine.close()
  })
})
