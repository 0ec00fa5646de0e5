import assert from 'node:assert/strict'
import { U64_MAX, type VersionWrites } from '@ledger-state/core'
import type { StateWriter } from '../ports.js'
import {
  block,
  bytes,
  CHAIN,
  type ContractCase,
  contractCase,
  EMPTY,
  fails,
  text,
  version,
  versionsOf,
} from './support.js'

const K = bytes('k')

/** All that readers see, as plain values. */
function picture(engine: StateWriter) {
  const { ledger, base, mark } = engine
  const entries = [...engine.at().scan(EMPTY)].map((entry) => [text(entry.key), entry.version, text(entry.value)])
  return { ledger, base, mark: text(mark), entries, block: engine.blockAt(ledger!.latestVersion) }
}

export const COMMIT_CASES: readonly ContractCase[] = [
  contractCase('describes the ledger with the newest and the oldest version and block', async (engine) => {
    await engine.commit([version(5n), { version: 6n, writes: [] }], CHAIN)
    const five = { height: 5n, epoch: 1n, timestampUsec: 50n }
    const expected = { chainId: 7n, latestVersion: 6n, latestBlock: five, oldestVersion: 5n, oldestBlock: five }
    assert.deepEqual(engine.ledger, expected)
    await engine.commit([version(7n)], CHAIN)
    assert.deepEqual(engine.ledger, { ...expected, latestVersion: 7n, latestBlock: block(7n) })
  }),

  contractCase('takes any u64 as the id of the chain, as a number or a bigint', async (engine, reopen) => {
    await engine.commit([version(0n)], { chainId: U64_MAX })
    assert.equal(engine.ledger?.chainId, U64_MAX)
    const again = await reopen()
    await fails('chain_id_mismatch', () => again.commit([version(1n)], { chainId: 255 }))
    await again.commit([version(1n)], { chainId: U64_MAX })
    assert.equal(again.ledger?.chainId, U64_MAX)
  }),

  contractCase('is unchanged after a batch that it refuses, at once and later', async (engine, reopen) => {
    await fails('block_order', () => engine.commit([{ version: 0n, writes: [] }], CHAIN))
    assert.deepEqual([engine.ledger, engine.base], [undefined, undefined])
    await engine.commit([version(0n, [K, bytes('a')])], { ...CHAIN, mark: bytes('m') })
    const before = picture(engine)
    const good = version(1n, [K, bytes('refused')], [bytes('refused'), bytes('refused')])
    const refused: readonly (readonly [string, unknown, number | bigint])[] = [
      ['version_gap', [version(2n)], 7],
      ['version_gap', [version(0n)], 7],
      ['version_gap', [good, version(3n)], 7],
      ['block_order', [good, { version: 2n, block: block(1n), writes: [] }], 7],
      ['block_order', [{ ...good, block: block(0n) }], 7],
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
      assert.deepEqual(picture(engine), before)
    }
    await engine.commit([version(1n, [bytes('other'), bytes('b')])], CHAIN)
    await engine.commit([version(2n)], CHAIN)
    const entries = [
      ['k', 0n, 'a'],
      ['other', 1n, 'b'],
    ]
    const expectOnlyGood = (one: StateWriter) => {
      assert.deepEqual(picture(one).entries, entries)
      assert.deepEqual([one.ledger?.latestVersion, one.mark], [2n, undefined])
      assert.deepEqual([...one.history(bytes('refused'))], [])
      assert.equal(one.at().get(bytes('refused')), undefined)
    }
    expectOnlyGood(engine)
    expectOnlyGood(await reopen())
  }),

  contractCase('does nothing for an empty batch', async (engine) => {
    await engine.commit([], CHAIN)
    assert.equal(engine.ledger, undefined)
    await engine.commit([version(3n)], { ...CHAIN, mark: bytes('three') })
    const before = picture(engine)
    await engine.commit([], { ...CHAIN, mark: bytes('nothing') })
    assert.deepEqual(picture(engine), before)
  }),

  contractCase('copies what it is given to commit', async (engine) => {
    const [key, value, mark] = [bytes('key'), bytes('value'), bytes('mark')]
    const info = { height: 1n, epoch: 0n, timestampUsec: 5n }
    const writes = [[key, value] as const]
    await engine.commit([{ version: 1n, block: info, writes }], { ...CHAIN, mark })
    for (const given of [key, value, mark]) given.fill(0)
    Object.assign(info, { height: 9n, timestampUsec: 9n })
    writes.length = 0
    assert.equal(text(engine.at().get(bytes('key'))), 'value')
    assert.deepEqual(
      [...engine.at().scan(EMPTY)].map((entry) => text(entry.key)),
      ['key'],
    )
    assert.equal(text(engine.mark), 'mark')
    assert.deepEqual(engine.ledger?.latestBlock, { height: 1n, epoch: 0n, timestampUsec: 5n })
    assert.deepEqual(engine.blockAt(1n).block, { height: 1n, epoch: 0n, timestampUsec: 5n })
  }),

  contractCase('does two commits that are made at once one after the other', async (engine) => {
    await Promise.all([
      engine.commit([version(0n, [K, bytes('a')])], CHAIN),
      engine.commit([version(1n, [K, bytes('b')])], CHAIN),
    ])
    assert.deepEqual([text(engine.at(0n).get(K)), text(engine.at(1n).get(K))], ['a', 'b'])
    const rivals = await Promise.allSettled([
      engine.commit([version(2n, [K, bytes('c')])], CHAIN),
      engine.commit([version(2n, [K, bytes('d')])], CHAIN),
    ])
    assert.deepEqual(
      rivals.map(({ status }) => status),
      ['fulfilled', 'rejected'],
    )
    assert.deepEqual([engine.ledger?.latestVersion, text(engine.at().get(K))], [2n, 'c'])
  }),

  contractCase('applies the versions of a batch in turn', async (engine) => {
    await engine.commit(versionsOf(K, 0n, ['a', 'b', null, 'c', null, null]), CHAIN)
    const answers = [0n, 1n, 2n, 3n, 4n, 5n].map((at) => text(engine.at(at).get(K)))
    assert.deepEqual(answers, ['a', 'b', undefined, 'c', undefined, undefined])
  }),

  contractCase('knows what it began with, and the mark of its newest commit', async (engine, reopen) => {
    assert.deepEqual([engine.base, engine.mark], [undefined, undefined])
    await engine.commit([version(4n)], { ...CHAIN, mark: bytes('four') })
    assert.deepEqual([engine.base, text(engine.mark)], [{ version: 4n, complete: false }, 'four'])
    await fails('invalid_argument', () => engine.commit([version(5n)], { ...CHAIN, mark: new Uint8Array(65_537) }))
    engine.mark!.fill(0)
    assert.equal(text(engine.mark), 'four')
    await engine.prune(1n)
    assert.equal(text(engine.mark), 'four')
    await engine.commit([version(5n)], { ...CHAIN, mark: new Uint8Array(65_536) })
    const again = await reopen()
    assert.equal(again.mark?.length, 65_536)
    await again.commit([version(6n)], CHAIN)
    assert.deepEqual([again.base, again.mark], [{ version: 4n, complete: false }, undefined])
  }),

  contractCase('is complete if it begins with version 0', async (engine) => {
    await engine.commit([version(0n)], CHAIN)
    assert.deepEqual(engine.base, { version: 0n, complete: true })
  }),

  contractCase('is exact over the whole range of versions', async (engine) => {
    const base = U64_MAX - 2n
    const at = (number: bigint, value?: string): VersionWrites => {
      const writes = value === undefined ? [] : [[K, bytes(value)] as const]
      return { version: number, block: { height: number, epoch: number, timestampUsec: number }, writes }
    }
    await engine.commit([at(base, 'a'), at(base + 1n)], CHAIN)
    await engine.commit([at(U64_MAX, 'b')], CHAIN)
    assert.deepEqual(
      [base, base + 1n, U64_MAX].map((number) => text(engine.at(number).get(K))),
      ['a', 'a', 'b'],
    )
    assert.deepEqual(
      [...engine.history(K)].map((revision) => revision.version),
      [U64_MAX, base],
    )
    for (const number of [base, U64_MAX]) {
      const expected = { firstVersion: number, lastVersion: number, block: at(number).block }
      assert.deepEqual([engine.blockAt(number), engine.blockByHeight(number)], [expected, expected])
      assert.deepEqual(engine.blockAtTime(number), expected)
    }
    await fails('version_gap', () => engine.commit([at(0n)], CHAIN))
    assert.equal((await engine.prune(1n)).oldestVersion, U64_MAX)
    assert.equal(text(engine.at().get(K)), 'b')
  }),

  contractCase('keeps everything when the store is opened again', async (engine, reopen) => {
    await engine.commit(versionsOf(K, 3n, ['a', undefined, null, 'b']), { ...CHAIN, mark: bytes('m') })
    await engine.commit([{ version: 7n, writes: [[bytes('l'), new Uint8Array(10_000)]] }], CHAIN)
    await engine.prune(3n)
    const before = picture(engine)
    const history = [...engine.history(K)]
    const again = await reopen()
    assert.deepEqual(picture(again), before)
    assert.deepEqual([...again.history(K)], history)
    assert.equal(again.at(5n).get(K), undefined)
    await fails('version_pruned', () => again.at(4n))
    await again.commit([version(8n)], CHAIN)
    assert.equal(again.ledger?.latestVersion, 8n)
  }),

  contractCase('takes the longest key, the empty key and the largest value', async (engine) => {
    const long = new Uint8Array(65_536).fill(97)
    const longer = Uint8Array.from(long).fill(98, 65_535)
    const large = new Uint8Array(16_777_216).fill(7)
    await engine.commit([version(0n, [long, bytes('long')], [EMPTY, large])], CHAIN)
    await engine.commit([version(1n, [longer, bytes('longer')], [EMPTY, bytes('small')])], CHAIN)
    assert.deepEqual(
      [long, longer].map((key) => text(engine.at().get(key))),
      ['long', 'longer'],
    )
    assert.equal(text(engine.at(1n).get(EMPTY)), 'small')
    const found = engine.at(0n).get(EMPTY)
    assert.equal(found?.length, large.length)
    assert.equal(Buffer.compare(found!, large), 0)
    assert.equal(engine.at(0n).get(longer), undefined)
  }),
]
