import type { VersionWrites } from '@ledger-state/core'
import { createMemoryEngine, type StateEngineReader } from '@ledger-state/engine'
import { describe, expect, it } from 'vitest'
import { bytes, CHAIN, record } from '../../testing/small-records.ts'
import { temporaryFolder } from '../../testing/temporary-folder.ts'
import { openStateEngine, openStateEngineReader } from '../open-state-engine.js'
import { MOST_LISTED } from '../records/block-lists.js'

const folder = temporaryFolder()

/** Makes versions in blocks of one to five. Heights have gaps. */
function versionsOf(first: number, count: number): VersionWrites[] {
  return Array.from({ length: count }, (_, at) => {
    const version = first + at
    const begins = version % 17 === 0 || version % 5 === 2 || version % 7 === 3
    return record(version, [[bytes('k'), bytes(`${version}`)]], begins ? 2 * version : undefined)
  })
}

function blocksOf(engine: StateEngineReader) {
  const { oldestVersion, latestVersion } = engine.ledger!
  const found: unknown[] = []
  for (let version = oldestVersion; version <= latestVersion; version++) {
    const block = engine.blockAt(version)
    if (version % 11n === 0n) expect(engine.blockByHeight(block.block.height)).toEqual(block)
    found.push(block)
  }
  // The writes of the oldest version cannot be distinguished from earlier ones.
  if (oldestVersion < latestVersion) {
    for (const { version, block } of engine.versions(oldestVersion + 1n, latestVersion)) found.push({ version, block })
  }
  return found
}

describe.each([
  ['merged after each commit', 0],
  ['merged in part', 60_000],
  ['in the memtable', undefined],
] as const)('blocks that are %s', (_, memtableBytes) => {
  it('match the model, from list to list, after a prune, a truncation and further commits', async () => {
    const engine = openStateEngine({ path: folder.path, durability: 'none', memtableBytes })
    const model = createMemoryEngine()
    const step = async (work: (one: typeof engine | typeof model) => Promise<unknown>) => {
      for (const one of [engine, model]) await work(one)
      const expected = blocksOf(model)
      expect(blocksOf(engine)).toEqual(expected)
      const reader = openStateEngineReader({ path: folder.path })
      expect(blocksOf(reader)).toEqual(expected)
      await reader.close()
      expect((await engine.check()).problems).toEqual([])
    }
    await step(async (one) => {
      for (let first = 0; first < 9 * MOST_LISTED; first += 48) await one.commit(versionsOf(first, 48), CHAIN)
    })
    await step((one) => one.prune(400n))
    await step((one) => one.truncateTo(411n))
    await step((one) => one.commit(versionsOf(412, 300), CHAIN))
    await step((one) => one.prune(100n))
    await step((one) => one.truncateTo(640n))
    await step((one) => one.prune(1n))
    await step((one) => one.commit(versionsOf(641, 5), CHAIN))
    await engine.close()
    await model.close()
  })
})
