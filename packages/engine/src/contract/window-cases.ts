import assert from 'node:assert/strict'
import type { VersionWrites, Write } from '@ledger-state/core'
import {
  block,
  bytes,
  CHAIN,
  type ContractCase,
  collect,
  contractCase,
  EMPTY,
  fails,
  inTurn,
  valueAt,
  version,
  versionsOf,
} from './support.js'

const K = bytes('k')
/** Number of records of a step of a prune: see `PruneOptions`. */
const STEP = 2_000

export const WINDOW_CASES: readonly ContractCase[] = [
  contractCase('keeps values written before the window, and forgets a deletion in time', async (engine, _, traits) => {
    await engine.commit(versionsOf(K, 0n, ['a', undefined, null]), CHAIN)
    assert.deepEqual(await engine.prune(2n), { oldestVersion: 1n, droppedEntries: 0, done: true })
    assert.deepEqual([await valueAt(engine, K, 1n), await (await engine.at(2n)).get(K)], ['a', undefined])
    const { droppedEntries, ...pruned } = await engine.prune(1n)
    assert.deepEqual(pruned, { oldestVersion: 2n, done: true })
    if (traits.countsEveryDrop) assert.equal(droppedEntries, 2)
    assert.equal(await (await engine.at(2n)).get(K), undefined)
    await engine.commit(versionsOf(K, 3n, ['b']), CHAIN)
    assert.equal(await valueAt(engine, K, 3n), 'b')
    assert.equal(await (await engine.at(2n)).get(K), undefined)
  }),

  contractCase('makes the window begin at a block, and never moves it back', async (engine) => {
    const versions = Array.from({ length: 30 }, (_, at): VersionWrites => {
      const begins = at % 10 === 0 ? { block: block(BigInt(at / 10)) } : {}
      return { version: BigInt(at), ...begins, writes: [] }
    })
    await engine.commit(versions, CHAIN)
    assert.equal((await engine.prune(30n)).oldestVersion, 0n)
    // The window keeps all versions of the block in which it begins.
    for (const retain of [11n, 15n, 20n, 1_000n]) assert.equal((await engine.prune(retain)).oldestVersion, 10n)
    assert.equal((await engine.prune(10n)).oldestVersion, 20n)
    for (const retain of [25n, 1_000n, 1n]) assert.equal((await engine.prune(retain)).oldestVersion, 20n)
    assert.deepEqual([(await engine.ledger())?.oldestVersion, (await engine.ledger())?.oldestBlock], [20n, block(2n)])
    assert.deepEqual([(await engine.ledger())?.latestVersion, (await engine.ledger())?.latestBlock], [29n, block(2n)])
  }),

  contractCase(
    'prunes in parts, raises the oldest version at once, and reads right between the parts',
    async (engine, _, { countsEveryDrop }) => {
      const keys = Array.from({ length: 1_000 }, (_, at) => bytes(`k${at}`))
      for (let at = 0n; at < 6n; at++) {
        await engine.commit([version(at, ...keys.map((key): Write => [key, bytes(`${at}`)]))], CHAIN)
      }
      let left = 5 * keys.length
      for (const maxEntries of [1, STEP, STEP + 1, STEP, STEP]) {
        const { oldestVersion, droppedEntries, done } = await engine.prune(1n, { maxEntries })
        assert.equal(oldestVersion, 5n)
        assert.equal((await engine.ledger())?.oldestVersion, 5n)
        assert.ok(droppedEntries <= Math.ceil(maxEntries / STEP) * STEP, `${droppedEntries} dropped of ${maxEntries}`)
        assert.ok(droppedEntries <= left)
        if (countsEveryDrop) assert.ok(left === 0 || droppedEntries > 0)
        left -= droppedEntries
        if (!done) assert.ok(droppedEntries >= maxEntries, `${droppedEntries} dropped of ${maxEntries}, and not done`)
        else if (countsEveryDrop) assert.equal(left, 0)
        await fails('version_pruned', () => engine.at(4n))
        assert.deepEqual(await inTurn(keys.slice(0, 3), (key) => valueAt(engine, key, 5n)), ['5', '5', '5'])
        assert.equal((await collect(engine.history(keys[999]!))).length, 1)
      }
      if (countsEveryDrop) assert.equal(left, 0)
      assert.deepEqual(await engine.prune(1n), { oldestVersion: 5n, droppedEntries: 0, done: true })
    },
  ),

  contractCase('takes commits while it prunes', async (engine) => {
    const keys = Array.from({ length: 1_500 }, (_, at) => bytes(`k${at}`))
    for (let at = 0n; at < 5n; at++) {
      await engine.commit([version(at, ...keys.map((key): Write => [key, bytes(`${at}`)]))], CHAIN)
    }
    const [pruned] = await Promise.all([engine.prune(2n), engine.commit([version(5n, [keys[0]!, null])], CHAIN)])
    assert.equal(pruned.done, true)
    assert.ok((await engine.ledger())!.oldestVersion >= 3n)
    assert.deepEqual([await valueAt(engine, keys[0]!, 4n), await (await engine.at(5n)).get(keys[0]!)], ['4', undefined])
    assert.equal((await collect((await engine.at()).scan(EMPTY))).length, keys.length - 1)
  }),

  contractCase('keeps thousands of versions of one key apart, even while they are pruned', async (engine) => {
    for (let start = 0; start < 1_200; start += 400) {
      const values = Array.from({ length: 400 }, (_, at) => (at % 2 === 0 ? String(start + at) : undefined))
      await engine.commit(versionsOf(K, BigInt(start), values), CHAIN)
      await engine.prune(500n)
      const { oldestVersion, latestVersion } = (await engine.ledger())!
      for (let at = oldestVersion; at <= latestVersion; at++) {
        assert.equal(await valueAt(engine, K, at), String(at - (at % 2n)))
      }
    }
  }),
]
