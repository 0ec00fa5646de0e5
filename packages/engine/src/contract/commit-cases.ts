import assert from 'node:assert/strict'
import { U64_MAX, type VersionWrites } from '@ledger-state/core'
import type { ContractEngine } from './contract-engine.js'
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
  text,
  valueAt,
  version,
  versionsOf,
} from './support.js'

const K = bytes('k')

/** Everything that a reader sees of an engine, as plain values. */
async function picture(engine: ContractEngine) {
  const [ledger, base, mark] = [await engine.ledger(), await engine.base(), await engine.mark()]
  const entries = (await collect((await engine.at()).scan(EMPTY))).map((entry) => [
    text(entry.key),
    entry.version,
    text(entry.value),
  ])
  return { ledger, base, mark: text(mark), entries, block: await engine.blockAt(ledger!.latestVersion) }
}

export const COMMIT_CASES: readonly ContractCase[] = [
  contractCase('describes the ledger with the newest and the oldest version and block', async (engine) => {
    await engine.commit([version(5n), { version: 6n, writes: [] }], CHAIN)
    const five = { height: 5n, epoch: 1n, timestampUsec: 50n }
    const expected = { chainId: 7n, latestVersion: 6n, latestBlock: five, oldestVersion: 5n, oldestBlock: five }
    assert.deepEqual(await engine.ledger(), expected)
    await engine.commit([version(7n)], CHAIN)
    assert.deepEqual(await engine.ledger(), { ...expected, latestVersion: 7n, latestBlock: block(7n) })
  }),

  contractCase('takes any u64 as the id of the chain, as a number or a bigint', async (engine, reopen) => {
    await engine.commit([version(0n)], { chainId: U64_MAX })
    assert.equal((await engine.ledger())?.chainId, U64_MAX)
    const again = await reopen()
    await fails('chain_id_mismatch', () => again.commit([version(1n)], { chainId: 255 }))
    await again.commit([version(1n)], { chainId: U64_MAX })
    assert.equal((await again.ledger())?.chainId, U64_MAX)
  }),

  contractCase('is unchanged after a batch that it refuses, at once and later', async (engine, reopen) => {
    await fails('block_order', () => engine.commit([{ version: 0n, writes: [] }], CHAIN))
    assert.deepEqual([await engine.ledger(), await engine.base()], [undefined, undefined])
    await engine.commit([version(0n, [K, bytes('a')])], { ...CHAIN, mark: bytes('m') })
    const before = await picture(engine)
    const good = version(1n, [K, bytes('refused')], [bytes('refused'), bytes('refused')])
    const refused: readonly (readonly [string, unknown, number | bigint])[] = [
      ['version_gap', [version(2n)], 7],
      ['version_gap', [version(0n)], 7],
      ['version_gap', [good, version(3n)], 7],
      ['block_order', [good, { version: 2n, block: block(1n), writes: [] }], 7],
      ['block_order', [{ ...good, block: block(0n) }], 7],
      ['block_order', [good, { ...version(2n), block: { ...block(2n), timestampUsec: 9n } }], 7],
      ['duplicate_key', [good, version(2n, [K, bytes('c')], [K, null])], 7],
      ['chain_id_mismatch', [good], 8],
      ['chain_id_mismatch', [good], 7n + 2n ** 8n],
      ['invalid_argument', [good], -1],
      ['invalid_argument', [good, { ...version(2n), version: 2 }], 7],
      ['invalid_argument', [{ ...good, version: U64_MAX + 1n }], 7],
      ['invalid_argument', [{ ...good, writes: [['k', bytes('a')]] }], 7],
      ['invalid_argument', [{ ...good, writes: [[K, 'a']] }], 7],
      ['invalid_argument', [{ ...good, writes: [[K, undefined]] }], 7],
      ['invalid_argument', [{ ...good, block: { ...good.block, height: -1n } }], 7],
      ['key_too_long', [good, version(2n, [new Uint8Array(65_537), bytes('')])], 7],
      ['value_too_long', [good, version(2n, [bytes('l'), new Uint8Array(16_777_217)])], 7],
    ]
    for (const [code, versions, chainId] of refused) {
      await fails(code, () => engine.commit(versions as VersionWrites[], { chainId, mark: bytes('refused') }))
      assert.deepEqual(await picture(engine), before)
    }
    await engine.commit([version(1n, [bytes('other'), bytes('b')])], CHAIN)
    await engine.commit([version(2n)], CHAIN)
    const entries = [
      ['k', 0n, 'a'],
      ['other', 1n, 'b'],
    ]
    const expectOnlyGood = async (one: ContractEngine) => {
      assert.deepEqual((await picture(one)).entries, entries)
      assert.deepEqual([(await one.ledger())?.latestVersion, await one.mark()], [2n, undefined])
      assert.deepEqual(await collect(one.history(bytes('refused'))), [])
      assert.equal(await (await one.at()).get(bytes('refused')), undefined)
    }
    await expectOnlyGood(engine)
    await expectOnlyGood(await reopen())
  }),

  contractCase('does nothing for an empty batch', async (engine) => {
    await engine.commit([], CHAIN)
    assert.equal(await engine.ledger(), undefined)
    await engine.commit([version(3n)], { ...CHAIN, mark: bytes('three') })
    const before = await picture(engine)
    await engine.commit([], { ...CHAIN, mark: bytes('nothing') })
    assert.deepEqual(await picture(engine), before)
  }),

  contractCase('copies the writes that it commits', async (engine) => {
    const [key, value, mark] = [bytes('key'), bytes('value'), bytes('mark')]
    const info = { height: 1n, epoch: 0n, timestampUsec: 5n }
    const writes = [[key, value] as const]
    await engine.commit([{ version: 1n, block: info, writes }], { ...CHAIN, mark })
    for (const given of [key, value, mark]) given.fill(0)
    Object.assign(info, { height: 9n, timestampUsec: 9n })
    writes.length = 0
    assert.equal(await valueAt(engine, bytes('key')), 'value')
    assert.deepEqual(
      (await collect((await engine.at()).scan(EMPTY))).map((entry) => text(entry.key)),
      ['key'],
    )
    assert.equal(text(await engine.mark()), 'mark')
    assert.deepEqual((await engine.ledger())?.latestBlock, { height: 1n, epoch: 0n, timestampUsec: 5n })
    assert.deepEqual((await engine.blockAt(1n)).block, { height: 1n, epoch: 0n, timestampUsec: 5n })
  }),

  contractCase('does two commits that are made at once one after the other', async (engine) => {
    await Promise.all([
      engine.commit([version(0n, [K, bytes('a')])], CHAIN),
      engine.commit([version(1n, [K, bytes('b')])], CHAIN),
    ])
    assert.deepEqual([await valueAt(engine, K, 0n), await valueAt(engine, K, 1n)], ['a', 'b'])
    const rivals = await Promise.allSettled([
      engine.commit([version(2n, [K, bytes('c')])], CHAIN),
      engine.commit([version(2n, [K, bytes('d')])], CHAIN),
    ])
    assert.deepEqual(
      rivals.map(({ status }) => status),
      ['fulfilled', 'rejected'],
    )
    assert.deepEqual([(await engine.ledger())?.latestVersion, await valueAt(engine, K)], [2n, 'c'])
  }),

  contractCase('applies the versions of a batch in turn', async (engine) => {
    await engine.commit(versionsOf(K, 0n, ['a', 'b', null, 'c', null, null]), CHAIN)
    const answers = await inTurn([0n, 1n, 2n, 3n, 4n, 5n], (at) => valueAt(engine, K, at))
    assert.deepEqual(answers, ['a', 'b', undefined, 'c', undefined, undefined])
  }),

  contractCase('knows its base, and the mark of its newest commit', async (engine, reopen) => {
    assert.deepEqual([await engine.base(), await engine.mark()], [undefined, undefined])
    await engine.commit([version(4n)], { ...CHAIN, mark: bytes('four') })
    assert.deepEqual([await engine.base(), text(await engine.mark())], [{ version: 4n, complete: false }, 'four'])
    await fails('invalid_argument', () => engine.commit([version(5n)], { ...CHAIN, mark: new Uint8Array(65_537) }))
    const held = await engine.mark()
    held!.fill(0)
    assert.equal(text(await engine.mark()), 'four')
    await engine.prune(1n)
    assert.equal(text(await engine.mark()), 'four')
    await engine.commit([version(5n)], { ...CHAIN, mark: new Uint8Array(65_536) })
    const again = await reopen()
    assert.equal((await again.mark())?.length, 65_536)
    await again.commit([version(6n)], CHAIN)
    assert.deepEqual([await again.base(), await again.mark()], [{ version: 4n, complete: false }, undefined])
  }),

  contractCase('is complete if it begins with version 0', async (engine) => {
    await engine.commit([version(0n)], CHAIN)
    assert.deepEqual(await engine.base(), { version: 0n, complete: true })
  }),

  contractCase('is exact over the whole range of versions', async (engine, _, { greatestNumber: greatest }) => {
    const base = greatest - 2n
    const at = (number: bigint, value?: string): VersionWrites => {
      const writes = value === undefined ? [] : [[K, bytes(value)] as const]
      return { version: number, block: { height: number, epoch: number, timestampUsec: number }, writes }
    }
    await engine.commit([at(base, 'a'), at(base + 1n)], CHAIN)
    await engine.commit([at(greatest, 'b')], CHAIN)
    assert.deepEqual(await inTurn([base, base + 1n, greatest], (number) => valueAt(engine, K, number)), ['a', 'a', 'b'])
    assert.deepEqual(
      (await collect(engine.history(K))).map((revision) => revision.version),
      [greatest, base],
    )
    for (const number of [base, greatest]) {
      const expected = { firstVersion: number, lastVersion: number, block: at(number).block }
      assert.deepEqual([await engine.blockAt(number), await engine.blockByHeight(number)], [expected, expected])
      assert.deepEqual(await engine.blockAtTime(number), expected)
    }
    await fails('version_gap', () => engine.commit([at(0n)], CHAIN))
    assert.equal((await engine.prune(1n)).oldestVersion, greatest)
    assert.equal(await valueAt(engine, K), 'b')
  }),

  contractCase('keeps everything when the store is opened again', async (engine, reopen) => {
    await engine.commit(versionsOf(K, 3n, ['a', undefined, null, 'b']), { ...CHAIN, mark: bytes('m') })
    await engine.commit([{ version: 7n, writes: [[bytes('l'), new Uint8Array(10_000)]] }], CHAIN)
    await engine.prune(3n)
    const before = await picture(engine)
    const history = await collect(engine.history(K))
    const again = await reopen()
    assert.deepEqual(await picture(again), before)
    assert.deepEqual(await collect(again.history(K)), history)
    assert.equal(await (await again.at(5n)).get(K), undefined)
    await fails('version_pruned', () => again.at(4n))
    await again.commit([version(8n)], CHAIN)
    assert.equal((await again.ledger())?.latestVersion, 8n)
  }),

  contractCase('takes the longest key, the empty key and the largest value', async (engine) => {
    const long = new Uint8Array(65_536).fill(97)
    const longer = Uint8Array.from(long).fill(98, 65_535)
    const large = new Uint8Array(16_777_216).fill(7)
    await engine.commit([version(0n, [long, bytes('long')], [EMPTY, large])], CHAIN)
    await engine.commit([version(1n, [longer, bytes('longer')], [EMPTY, bytes('small')])], CHAIN)
    assert.deepEqual(await inTurn([long, longer], (key) => valueAt(engine, key)), ['long', 'longer'])
    assert.equal(await valueAt(engine, EMPTY, 1n), 'small')
    const found = await (await engine.at(0n)).get(EMPTY)
    assert.equal(found?.length, large.length)
    assert.equal(Buffer.compare(found!, large), 0)
    assert.equal(await (await engine.at(0n)).get(longer), undefined)
  }),
]
