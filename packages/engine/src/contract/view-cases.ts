import assert from 'node:assert/strict'
import type { ContractView } from './contract-engine.js'
import {
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

type Read = (view: ContractView) => unknown

/** Each kind of read of a view, by name. */
const READS: Readonly<Record<string, Read>> = {
  get: (view) => view.get(K),
  'get of a key that was never written': (view) => view.get(bytes('never')),
  peek: (view) => view.peek(K),
  getEntry: (view) => view.getEntry(K),
  has: (view) => view.has(K),
  getMany: (view) => view.getMany([K]),
  scan: async (view) => await collect(view.scan(EMPTY)),
}

export const VIEW_CASES: readonly ContractCase[] = [
  contractCase('has no ledger before the first commit', async (engine) => {
    assert.equal(await engine.ledger(), undefined)
    await fails('no_ledger', () => engine.at())
    await fails('no_ledger', () => engine.at(0n))
    await fails('no_ledger', () => engine.blockAt(0n))
    await fails('no_ledger', () => engine.blockByHeight(0n))
    await fails('no_ledger', () => engine.blockAtTime(0n))
    await fails('no_ledger', async () => await collect(engine.history(K)))
    await fails('no_ledger', async () => await collect(engine.versions(1n, 2n)))
    await fails('no_ledger', () => engine.prune(1n))
  }),

  contractCase('answers the newest write at or below a version, by every read of a view', async (engine) => {
    await engine.commit(versionsOf(K, 5n, ['a', undefined, null, '']), CHAIN)
    const answers = await inTurn([5n, 6n, 7n, 8n], async (at) => {
      const view = await engine.at(at)
      const entry = await view.getEntry(K)
      const [value, peeked] = [await view.get(K), await view.peek(K)]
      return [view.version, text(value), text(peeked), entry?.version, text(entry?.value), await view.has(K)]
    })
    assert.deepEqual(answers, [
      [5n, 'a', 'a', 5n, 'a', true],
      [6n, 'a', 'a', 5n, 'a', true],
      [7n, undefined, undefined, undefined, undefined, false],
      [8n, '', '', 8n, '', true],
    ])
    const many = await (await engine.at(6n)).getMany([K, bytes('never'), K])
    assert.deepEqual(many.map(text), ['a', undefined, 'a'])
    assert.equal((await engine.at()).version, 8n)
    assert.equal(await (await engine.at()).get(bytes('never')), undefined)
    assert.equal(await (await engine.at()).get(bytes('kk')), undefined)
    assert.equal(await (await engine.at()).get(EMPTY), undefined)
  }),

  contractCase('keeps a view as it was made, whatever is committed and pruned afterwards', async (engine) => {
    await engine.commit(versionsOf(K, 0n, ['a', 'b']), CHAIN)
    const views = [await engine.at(), await engine.at(1n)]
    const ledger = await engine.ledger()
    await engine.commit(versionsOf(K, 2n, ['c', 'd']), CHAIN)
    await engine.prune(3n)
    for (const view of views) {
      assert.deepEqual(view.ledger, ledger)
      assert.equal(view.version, 1n)
      assert.deepEqual(
        [text(await view.get(K)), text(await view.peek(K)), (await view.getEntry(K))?.version],
        ['b', 'b', 1n],
      )
      assert.deepEqual(
        (await collect(view.scan(EMPTY))).map((entry) => text(entry.value)),
        ['b'],
      )
    }
    assert.equal(await valueAt(engine, K), 'd')
    assert.deepEqual((await engine.at()).ledger, await engine.ledger())
  }),

  contractCase('answers with copies', async (engine) => {
    await engine.commit([version(0n)], CHAIN)
    await engine.commit([version(1n, [K, bytes('value')])], CHAIN)
    await engine.commit([version(2n, [K, bytes('newer')])], CHAIN)
    for (const at of [1n, 2n]) {
      const expected = at === 1n ? 'value' : 'newer'
      const read = async (): Promise<Uint8Array[]> => {
        const view = await engine.at(at)
        const [scanned] = await collect(view.scan(EMPTY))
        const [listed] = await collect(engine.versions(at, at))
        const written = (await collect(engine.history(K))).find((revision) => revision.version === at)
        const one = [await view.get(K), (await view.getEntry(K))?.value, (await view.getMany([K]))[0]]
        return [...one, scanned?.value, written?.value, listed?.writes[0]?.[1]].map((value) => value!)
      }
      const keys = [
        (await collect((await engine.at(at)).scan(EMPTY)))[0]!.key,
        (await collect(engine.versions(at, at)))[0]!.writes[0]![0],
      ]
      const values = await read()
      for (const value of values) assert.equal(text(value), expected)
      for (const one of [...values, ...keys]) one.fill(0)
      for (const value of await read()) assert.equal(text(value), expected)
      assert.equal(text((await collect((await engine.at(at)).scan(EMPTY)))[0]!.key), 'k')
      assert.equal(await (await engine.at(at)).has(K), true)
    }
  }),

  contractCase('leaves an answer as it is while other reads are made', async (engine) => {
    const values = ['first', 'second', 'a third one']
    await engine.commit([version(0n, ...values.map((value) => [bytes(value), bytes(value)] as const))], CHAIN)
    const view = await engine.at()
    const copies = [
      ...(await view.getMany(values.map(bytes))),
      ...(await collect(view.scan(EMPTY))).map(({ value }) => value),
    ]
    for (const value of values) assert.deepEqual(text(await view.peek(bytes(value))), value)
    assert.deepEqual(copies.map(text).sort(), [...values, ...values].sort())
  }),

  contractCase('refuses versions outside the window', async (engine) => {
    await engine.commit(versionsOf(K, 5n, ['a', undefined, undefined]), CHAIN)
    await fails('version_pruned', () => engine.at(4n))
    await fails('version_not_found', () => engine.at(8n))
    await fails('version_pruned', () => engine.blockAt(4n))
    await fails('version_not_found', () => engine.blockAt(8n))
    await engine.prune(1n)
    await fails('version_pruned', () => engine.at(6n))
    await fails('version_pruned', () => engine.blockAt(6n))
    assert.equal(await valueAt(engine, K, 7n), 'a')
  }),

  ...Object.entries(READS).map(([name, read]) =>
    contractCase(`refuses to read a view that was pruned: ${name}`, async (engine) => {
      await engine.commit(versionsOf(K, 5n, ['a', undefined, 'b']), CHAIN)
      const [overtaken, kept] = [await engine.at(6n), await engine.at(7n)]
      await read(overtaken)
      await engine.prune(1n)
      await fails('version_pruned', () => read(overtaken))
      await read(kept)
    }),
  ),
]
