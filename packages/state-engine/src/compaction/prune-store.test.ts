import type { Write } from '@ledger-state/core'
import { isSlowRun } from '@ledger-state/testing/slow-run'
import { expect, it } from 'vitest'
import { bytes, CHAIN, record } from '../../testing/small-records.ts'
import { temporaryFolder } from '../../testing/temporary-folder.ts'
import { openStateEngine, type StateEngine } from '../open-state-engine.js'

const folder = temporaryFolder()

/** Opens an engine that merges after every commit, so that everything to prune is in the files. */
function open(): StateEngine {
  return openStateEngine({ path: folder.path, durability: 'none', memtableBytes: 0 })
}

it('pruning removes everything that no version of the window sees', async () => {
  const engine = open()
  for (let version = 0; version < 200; version++) {
    const writes: Write[] = [
      [bytes('busy'), bytes(`v${version}`)],
      [bytes(`once ${version}`), version % 2 ? null : bytes('x')],
    ]
    if (version === 50) writes.push([bytes('gone'), bytes('soon')])
    if (version === 60) writes.push([bytes('gone'), null])
    await engine.commit([record(version, writes, version)], CHAIN)
  }
  expect(engine.stats.historyEntries).toBe(200)
  const { oldestVersion, droppedEntries } = await engine.prune(10n)
  expect(oldestVersion).toBe(190n)
  expect(droppedEntries).toBe(190 + 2)
  expect(engine.stats).toMatchObject({ keys: 101, historyEntries: 9, blocks: 10 })
  expect(Buffer.from(engine.at(190n).get(bytes('busy'))!).toString()).toBe('v190')
  expect(Buffer.from(engine.at(190n).get(bytes('once 0'))!).toString()).toBe('x')
  await engine.close()
})

it('pruning lets later commits reuse the pages of what it pruned', async () => {
  const engine = openStateEngine({ path: folder.path, durability: 'none', memtableBytes: 300_000 })
  let version = 0
  const window = async () => {
    for (const until = version + 400; version < until; version++) {
      const writes = Array.from(
        { length: 5 },
        (_, at): Write => [bytes(`k${(version * 5 + at) % 97}`), new Uint8Array(700)],
      )
      await engine.commit([record(version, writes, version)], CHAIN)
      if (version % 20 === 0) await engine.prune(400n)
    }
    return engine.stats.fileBytes
  }
  await window()
  const first = await window()
  let last = 0
  for (let count = 0; count < 8; count++) last = await window()
  expect(last).toBeLessThan(first * 1.3)
  await engine.close()
})

it('pruning goes in parts, stays sound between them, and continues after a commit', async () => {
  const engine = open()
  const writes = Array.from({ length: 1_000 }, (_, at) => [bytes(`k${at}`), bytes('value')] as [Uint8Array, Uint8Array])
  for (let version = 0; version < 10; version++) await engine.commit([record(version, writes, version)], CHAIN)
  const first = await engine.prune(1n, { maxEntries: 1 })
  expect(first).toEqual({ oldestVersion: 9n, droppedEntries: 2_000, done: false })
  expect((await engine.check()).problems).toEqual([])
  expect(() => engine.at(8n)).toThrow(/pruned|oldest/)
  await engine.commit([record(10, writes, 10)], CHAIN)
  const rest = await engine.prune(2n, { maxEntries: 100_000 })
  expect(rest).toEqual({ oldestVersion: 9n, droppedEntries: 7_000, done: true })
  expect(engine.stats.historyEntries).toBe(1_000)
  await engine.close()
})

it.runIf(isSlowRun)(
  'pruning drops a generation of many deletions and large values in steps, sound after each',
  async () => {
    const engine = open()
    const keys = Array.from({ length: 3_000 }, (_, at) => bytes(`key ${at}`))
    const large = (fill: number): Write[] =>
      [0, 1].map((at) => [bytes(`large ${at}`), new Uint8Array(6_000_000).fill(fill)])
    await engine.commit([record(0, [...keys.map((key): Write => [key, key]), ...large(1)], 0)], CHAIN)
    await engine.commit([record(1, [...keys.map((key): Write => [key, null]), ...large(2)], 1)], CHAIN)
    await engine.commit([record(2, [], 2)], CHAIN)
    let steps = 0
    let dropped = 0
    for (let done = false; !done; steps++) {
      const step = await engine.prune(1n, { maxEntries: 1 })
      dropped += step.droppedEntries
      done = step.done
      expect((await engine.check()).problems).toEqual([])
    }
    expect(steps).toBeGreaterThan(3)
    expect(dropped).toBe(2 * keys.length + 2)
    expect(engine.stats).toMatchObject({ keys: 2, historyEntries: 0 })
    expect(engine.stats.payloadBytes).toBe(2 * (6_000_000 + 'large 0'.length))
    await engine.close()
  },
)

it('pruning never writes what dies in the memtable', async () => {
  const engine = openStateEngine({ path: folder.path, durability: 'none', memtableBytes: 60_000 })
  for (let version = 0; version < 2_000; version++) {
    await engine.commit([record(version, [[bytes('busy'), new Uint8Array(100)]], version)], CHAIN)
    if (version % 20 === 0) await engine.prune(10n)
  }
  expect(engine.stats.historyEntries).toBeLessThan(200)
  expect((await engine.check()).problems).toEqual([])
  await engine.close()
})
