import assert from 'node:assert/strict'
import type { BlockInfo, VersionWrites } from '@ledger-state/core'
import type { ContractEngine } from './contract-engine.js'
import { CHAIN, type ContractCase, contractCase, fails, inTurn } from './support.js'

/** First version, height and time of each block. Heights have gaps, and times repeat. */
const BLOCKS: readonly (readonly [first: bigint, height: bigint, time: bigint])[] = [
  [10n, 3n, 100n],
  [11n, 4n, 100n],
  [15n, 5n, 100n],
  [16n, 9n, 250n],
  [40n, 10n, 250n],
  [41n, 1_000n, 7_000n],
]
const LATEST = 44n

function info(height: bigint): BlockInfo {
  return { height, epoch: height + 1n, timestampUsec: BLOCKS.find(([, one]) => one === height)![2] }
}

async function commitBlocks(engine: ContractEngine): Promise<void> {
  const versions: VersionWrites[] = []
  for (let version = BLOCKS[0]![0]; version <= LATEST; version++) {
    const begun = BLOCKS.find(([first]) => first === version)
    versions.push({ version, block: begun && info(begun[1]), writes: [] })
  }
  await engine.commit(versions.slice(0, 20), CHAIN)
  await engine.commit(versions.slice(20), CHAIN)
}

function expected(height: bigint) {
  const at = BLOCKS.findIndex(([, one]) => one === height)
  const next = BLOCKS[at + 1]
  return { firstVersion: BLOCKS[at]![0], lastVersion: next ? next[0] - 1n : LATEST, block: info(height) }
}

export const BLOCK_CASES: readonly ContractCase[] = [
  contractCase('returns the block of every version, with its first and last version', async (engine) => {
    await commitBlocks(engine)
    for (let version = BLOCKS[0]![0]; version <= LATEST; version++) {
      const [, height] = BLOCKS.findLast(([first]) => first <= version)!
      assert.deepEqual(await engine.blockAt(version), expected(height))
    }
    assert.deepEqual((await engine.ledger())?.latestBlock, info(1_000n))
    assert.deepEqual((await engine.ledger())?.oldestBlock, info(3n))
    await engine.commit([{ version: 45n, writes: [] }], CHAIN)
    assert.deepEqual(await engine.blockAt(45n), { ...expected(1_000n), lastVersion: 45n })
  }),

  contractCase('finds the block of a height', async (engine) => {
    await commitBlocks(engine)
    for (const [, height] of BLOCKS) assert.deepEqual(await engine.blockByHeight(height), expected(height))
    for (const none of [0n, 2n, 6n, 8n, 11n, 999n, 1_001n]) assert.equal(await engine.blockByHeight(none), undefined)
    await engine.prune(20n)
    assert.equal((await engine.ledger())?.oldestVersion, 16n)
    for (const pruned of [3n, 4n, 5n]) assert.equal(await engine.blockByHeight(pruned), undefined)
    for (const kept of [9n, 10n, 1_000n]) assert.deepEqual(await engine.blockByHeight(kept), expected(kept))
    await fails('version_pruned', () => engine.blockAt(15n))
  }),

  contractCase('finds the newest block at or before a time, even among several of the same time', async (engine) => {
    await commitBlocks(engine)
    const heightsAt = (...times: bigint[]) =>
      inTurn(times, async (time) => (await engine.blockAtTime(time))?.block.height)
    assert.deepEqual(await heightsAt(0n, 99n), [undefined, undefined])
    assert.deepEqual(await heightsAt(100n, 101n, 249n), [5n, 5n, 5n])
    assert.deepEqual(await heightsAt(250n, 251n, 6_999n), [10n, 10n, 10n])
    assert.deepEqual(await heightsAt(7_000n, 2n ** 64n - 1n), [1_000n, 1_000n])
    assert.deepEqual(await engine.blockAtTime(100n), expected(5n))
    await engine.prune(20n)
    assert.deepEqual(await heightsAt(249n, 250n), [undefined, 10n])
  }),

  contractCase('finds each of many blocks that are spread unevenly', async (engine) => {
    const versions: VersionWrites[] = []
    const firsts: bigint[] = []
    for (let height = 0n, version = 0n; height < 150n; height++) {
      firsts.push(version)
      const block = { height: height * height, epoch: 0n, timestampUsec: (height >> 2n) ** 3n }
      const length = height % 40n === 7n ? 60n : (height * 7n) % 4n
      versions.push({ version: version++, block, writes: [] })
      for (let more = 0n; more < length; more++) versions.push({ version: version++, writes: [] })
    }
    await engine.commit(versions, CHAIN)
    for (const [at, firstVersion] of firsts.entries()) {
      const height = BigInt(at)
      assert.equal((await engine.blockByHeight(height * height))?.firstVersion, firstVersion)
      if (height > 1n) assert.equal(await engine.blockByHeight(height * height - 1n), undefined)
      const newest = Math.min(at | 3, firsts.length - 1)
      assert.equal((await engine.blockAtTime((height >> 2n) ** 3n))?.firstVersion, firsts[newest])
    }
  }),
]
