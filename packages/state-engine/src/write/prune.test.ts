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
  expect(engine.stats.historyEntries).toBe(300)
  // A file that has versions on both sides of the window's beginning keeps all of its writes.
  const { oldestVersion, droppedEntries, done } = await engine.prune(10n)
  expect([oldestVersion, done]).toEqual([190n, true])
  expect(droppedEntries).toBeGreaterThan(100)
  expect(engine.stats).toMatchObject({ blocks: 10 })
  expect(Buffer.from(engine.at(190n).get(bytes('busy'))!).toString()).toBe('v190')
  expect(Buffer.from(engine.at(190n).get(bytes('once 0'))!).toString()).toBe('x')
  expect([...engine.history(bytes('busy'))].map(({ version }) => version).at(-1)).toBe(190n)
  const rest = await engine.prune(1n)
  // The values of `busy` but the newest, the deletions of keys without values, and both writes of `gone`.
  expect(droppedEntries + rest.droppedEntries).toBe(199 + 2)
  expect(engine.stats).toMatchObject({ keys: 101, historyEntries: 0, blocks: 1 })
  expect(Buffer.from(engine.at().get(bytes('once 0'))!).toString()).toBe('x')
  expect((await engine.check()).problems).toEqual([])
  await engine.close()
})

it('pruning keeps the files as small as the window, however many versions there were', async () => {
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
    await engine.merge()
    return engine.stats.fileBytes
  }
  await window()
  const first = await window()
  let last = 0
  for (let count = 0; count < 8; count++) last = await window()
  // A file that spans the beginning of the window keeps the data below it.
  expect(last).toBeLessThan(first * 1.6)
  await engine.close()
})

it('pruning goes in parts, stays sound between them, and continues after a commit', async () => {
  const engine = open()
  const writes = Array.from({ length: 1_000 }, (_, at) => [bytes(`k${at}`), bytes('value')] as [Uint8Array, Uint8Array])
  for (let version = 0; version < 10; version++) await engine.commit([record(version, writes, version)], CHAIN)
  const first = await engine.prune(1n, { maxEntries: 1 })
  // A merge drops all of them at once; a call reports as many as it was asked for.
  expect(first).toEqual({ oldestVersion: 9n, droppedEntries: 1, done: false })
  expect((await engine.check()).problems).toEqual([])
  expect(() => engine.at(8n)).toThrow(/pruned|oldest/)
  await engine.commit([record(10, writes, 10)], CHAIN)
  const rest = await engine.prune(2n, { maxEntries: 100_000 })
  expect(rest).toEqual({ oldestVersion: 9n, droppedEntries: 8_999, done: true })
  expect(engine.stats.historyEntries).toBe(1_000)
  await engine.close()
})

it.runIf(isSlowRun)('pruning drops many deletions and large values, sound after each part of its report', async () => {
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
    const step = await engine.prune(1n, { maxEntries: 1_000 })
    dropped += step.droppedEntries
    done = step.done
    expect((await engine.check()).problems).toEqual([])
  }
  expect(steps).toBeGreaterThan(3)
  expect(dropped).toBe(2 * keys.length + 2)
  expect(engine.stats).toMatchObject({ keys: 2, historyEntries: 0 })
  expect(engine.stats.payloadBytes).toBe(2 * (6_000_000 + 'large 0'.length))
  await engine.close()
})

it('pruning never writes values that end in the memtable', async () => {
  const engine = openStateEngine({ path: folder.path, durability: 'none', memtableBytes: 60_000 })
  for (let version = 0; version < 2_000; version++) {
    await engine.commit([record(version, [[bytes('busy'), new Uint8Array(100)]], version)], CHAIN)
    if (version % 20 === 0) await engine.prune(10n)
  }
  expect(engine.stats.mergedWrites).toBeLessThan(200)
  expect((await engine.check()).problems).toEqual([])
  await engine.close()
})
