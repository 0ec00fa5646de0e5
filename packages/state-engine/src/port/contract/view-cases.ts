import assert from 'node:assert/strict'
import type { EngineView } from '../ports.js'
import { bytes, CHAIN, type ContractCase, contractCase, EMPTY, fails, text, version, versionsOf } from './support.js'

const K = bytes('k')

type Read = (view: EngineView) => unknown

/** Every read of a view. */
const READS: Readonly<Record<string, Read>> = {
  get: (view) => view.get(K),
  'get of a key that was never written': (view) => view.get(bytes('never')),
  peek: (view) => view.peek(K),
  getEntry: (view) => view.getEntry(K),
  has: (view) => view.has(K),
  getMany: (view) => view.getMany([K]),
  scan: (view) => [...view.scan(EMPTY)],
}

export const VIEW_CASES: readonly ContractCase[] = [
  contractCase('has no ledger before the first commit', async (engine) => {
    assert.equal(engine.ledger, undefined)
    await fails('no_ledger', () => engine.at())
    await fails('no_ledger', () => engine.at(0n))
    await fails('no_ledger', () => engine.blockAt(0n))
    await fails('no_ledger', () => engine.blockByHeight(0n))
    await fails('no_ledger', () => engine.blockAtTime(0n))
    await fails('no_ledger', () => [...engine.history(K)])
    await fails('no_ledger', () => [...engine.versions(1n, 2n)])
    await fails('no_ledger', () => engine.prune(1n))
  }),

  contractCase('answers the newest write at or below a version, by every read of a view', async (engine) => {
    await engine.commit(versionsOf(K, 5n, ['a', undefined, null, '']), CHAIN)
    const answers = [5n, 6n, 7n, 8n].map((at) => {
      const view = engine.at(at)
      const entry = view.getEntry(K)
      return [view.version, text(view.get(K)), text(view.peek(K)), entry?.version, text(entry?.value), view.has(K)]
    })
    assert.deepEqual(answers, [
      [5n, 'a', 'a', 5n, 'a', true],
      [6n, 'a', 'a', 5n, 'a', true],
      [7n, undefined, undefined, undefined, undefined, false],
      [8n, '', '', 8n, '', true],
    ])
    const many = engine.at(6n).getMany([K, bytes('never'), K])
    assert.deepEqual(many.map(text), ['a', undefined, 'a'])
    assert.equal(engine.at().version, 8n)
    assert.equal(engine.at().get(bytes('never')), undefined)
    assert.equal(engine.at().get(bytes('kk')), undefined)
    assert.equal(engine.at().get(EMPTY), undefined)
  }),

  contractCase('keeps a view as it was made, whatever is committed and pruned meanwhile', async (engine) => {
    await engine.commit(versionsOf(K, 0n, ['a', 'b']), CHAIN)
    const views = [engine.at(), engine.at(1n)]
    const { ledger } = engine
    await engine.commit(versionsOf(K, 2n, ['c', 'd']), CHAIN)
    await engine.prune(3n)
    for (const view of views) {
      assert.deepEqual(view.ledger, ledger)
      assert.equal(view.version, 1n)
      assert.deepEqual([text(view.get(K)), text(view.peek(K)), view.getEntry(K)?.version], ['b', 'b', 1n])
      assert.deepEqual(
        [...view.scan(EMPTY)].map((entry) => text(entry.value)),
        ['b'],
      )
    }
    assert.equal(text(engine.at().get(K)), 'd')
    assert.deepEqual(engine.at().ledger, engine.ledger)
  }),

  contractCase('answers with copies', async (engine) => {
    await engine.commit([version(0n)], CHAIN)
    await engine.commit([version(1n, [K, bytes('value')])], CHAIN)
    await engine.commit([version(2n, [K, bytes('newer')])], CHAIN)
    for (const at of [1n, 2n]) {
      const expected = at === 1n ? 'value' : 'newer'
      const read = (): Uint8Array[] => {
        const view = engine.at(at)
        const [scanned] = view.scan(EMPTY)
        const [listed] = engine.versions(at, at)
        const written = [...engine.history(K)].find((revision) => revision.version === at)
        const values = [view.get(K), view.getEntry(K)?.value, view.getMany([K])[0], scanned?.value, written?.value]
        return [...values, listed?.writes[0]?.[1]].map((value) => value!)
      }
      const keys = [[...engine.at(at).scan(EMPTY)][0]!.key, [...engine.versions(at, at)][0]!.writes[0]![0]]
      const values = read()
      for (const value of values) assert.equal(text(value), expected)
      for (const one of [...values, ...keys]) one.fill(0)
      for (const value of read()) assert.equal(text(value), expected)
      assert.equal(text([...engine.at(at).scan(EMPTY)][0]!.key), 'k')
      assert.equal(engine.at(at).has(K), true)
    }
  }),

  contractCase('leaves an answer as it is while other reads are made', async (engine) => {
    const values = ['first', 'second', 'a third one']
    await engine.commit([version(0n, ...values.map((value) => [bytes(value), bytes(value)] as const))], CHAIN)
    const view = engine.at()
    const copies = [...view.getMany(values.map(bytes)), ...[...view.scan(EMPTY)].map(({ value }) => value)]
    for (const value of values) assert.deepEqual(text(view.peek(bytes(value))), value)
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
    assert.equal(text(engine.at(7n).get(K)), 'a')
  }),

  ...Object.entries(READS).map(([name, read]) =>
    contractCase(`refuses to read a view that was pruned: ${name}`, async (engine) => {
      await engine.commit(versionsOf(K, 5n, ['a', undefined, 'b']), CHAIN)
      const [overtaken, kept] = [engine.at(6n), engine.at(7n)]
      read(overtaken)
      await engine.prune(1n)
      await fails('version_pruned', () => read(overtaken))
      read(kept)
    }),
  ),
]
