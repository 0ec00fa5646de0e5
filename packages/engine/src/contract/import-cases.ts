import assert from 'node:assert/strict'
import { importState } from '../import-state.js'
import {
  block,
  bytes,
  CHAIN,
  type ContractCase,
  collect,
  contractCase,
  EMPTY,
  fails,
  text,
  valueAt,
  version,
} from './support.js'

const BASE = { chainId: 7, block: block(3n) }

function entry(key: string, at = 5n, value = key) {
  return { key: bytes(key), version: at, value: bytes(value) }
}

export const IMPORT_CASES: readonly ContractCase[] = [
  contractCase('imports a state at a version, whole or not at all', async (engine, reopen) => {
    const base = { ...BASE, version: 9n }
    const entries = [entry('b', 4n, 'old'), { key: bytes('a'), version: 9n, value: new Uint8Array(20_000).fill(1) }]
    await fails('invalid_argument', () => importState(engine, base, [...entries, entry('c', 10n)]))
    await fails('duplicate_key', () => importState(engine, base, [...entries, entries[0]!]))
    await fails('key_too_long', () => importState(engine, base, [{ ...entries[0]!, key: new Uint8Array(65_537) }]))
    await fails('no_ledger', () => engine.at())
    await importState(engine, base, entries)
    const info = { chainId: 7n, latestVersion: 9n, latestBlock: block(3n), oldestVersion: 9n, oldestBlock: block(3n) }
    assert.deepEqual(await engine.ledger(), info)
    assert.deepEqual(
      [(await (await engine.at()).getEntry(bytes('b')))?.version, await valueAt(engine, bytes('b'))],
      [4n, 'old'],
    )
    assert.equal((await (await engine.at()).get(bytes('a')))?.length, 20_000)
    await fails('store_not_empty', () => importState(engine, base, []))
    await fails('store_not_empty', () => engine.beginImport(9n, { resume: true }))
    await engine.commit([{ version: 10n, writes: [[bytes('b'), bytes('new')]] }], CHAIN)
    const again = await reopen()
    assert.deepEqual([await valueAt(again, bytes('b'), 9n), await valueAt(again, bytes('b'), 10n)], ['old', 'new'])
    assert.deepEqual(await again.blockAt(10n), { firstVersion: 9n, lastVersion: 10n, block: block(3n) })
    assert.deepEqual(await again.base(), { version: 9n, complete: true })
    await fails('version_pruned', () => again.at(8n))
    await fails('chain_id_mismatch', () => again.commit([version(11n)], { chainId: 8 }))
  }),

  contractCase('remembers whether an imported state is complete', async (engine) => {
    await importState(engine, { ...BASE, version: 9n, complete: false, mark: bytes('m') }, [entry('a')])
    assert.deepEqual([await engine.base(), text(await engine.mark())], [{ version: 9n, complete: false }, 'm'])
  }),

  contractCase('imports from an asynchronous source, and an empty state', async (engine) => {
    async function* entries() {
      for (let at = 0; at < 6_000; at++) yield entry(`k${at}`)
    }
    await importState(engine, { ...BASE, version: 9n }, entries())
    assert.equal((await collect((await engine.at()).scan(EMPTY))).length, 6_000)
  }),

  contractCase('resumes an import that was interrupted, even by the end of the engine', async (engine, reopen) => {
    const first = await engine.beginImport(9n)
    await first.add([entry('a'), entry('b')], bytes('half'))
    assert.deepEqual([await engine.ledger(), await engine.base()], [undefined, undefined])
    const again = await reopen()
    const left = await again.unfinishedImport()
    assert.deepEqual([left?.version, text(left?.mark)], [9n, 'half'])
    const resumed = await again.beginImport(9n, { resume: true })
    assert.deepEqual([resumed.version, resumed.entryCount, text(resumed.mark)], [9n, 2, 'half'])
    await resumed.add([entry('c')])
    assert.deepEqual([resumed.entryCount, resumed.mark], [3, undefined])
    await fails('duplicate_key', () => resumed.add([entry('d'), entry('a')]))
    await fails('invalid_argument', () => resumed.add([entry('d', 10n)]))
    assert.equal(resumed.entryCount, 3)
    await resumed.finish({ ...BASE, mark: bytes('there') })
    assert.deepEqual(
      (await collect((await again.at()).scan(EMPTY))).map(({ key }) => text(key)),
      ['a', 'b', 'c'],
    )
    assert.equal(text(await again.mark()), 'there')
    assert.equal(await again.unfinishedImport(), undefined)
    await fails('invalid_argument', () => resumed.add([entry('e')]))
    await fails('invalid_argument', () => resumed.finish(BASE))
  }),

  contractCase('discards an unfinished import for another, and for a commit', async (engine) => {
    assert.equal(await engine.unfinishedImport(), undefined)
    const first = await engine.beginImport(9n)
    assert.deepEqual(await engine.unfinishedImport(), { version: 9n, mark: undefined })
    await first.add([entry('a')], bytes('first'))
    const restarted = await engine.beginImport(9n)
    assert.equal(restarted.entryCount, 0)
    await restarted.add([entry('a')])
    const other = await engine.beginImport(8n, { resume: true })
    assert.equal(other.entryCount, 0)
    assert.deepEqual(await engine.unfinishedImport(), { version: 8n, mark: undefined })
    await other.add([], bytes('nothing yet'))
    assert.equal(text((await engine.unfinishedImport())?.mark), 'nothing yet')
    await fails('invalid_argument', () => restarted.add([]))
    await other.add([entry('a')])
    await engine.commit([version(0n, [bytes('k'), bytes('v')])], CHAIN)
    assert.deepEqual([await valueAt(engine, bytes('a')), await valueAt(engine, bytes('k'))], [undefined, 'v'])
    await fails('invalid_argument', () => other.finish(BASE))
    assert.equal(await engine.unfinishedImport(), undefined)
  }),

  contractCase('copies the entries that it imports', async (engine) => {
    const state = await engine.beginImport(9n)
    const given = entry('key', 5n, 'value')
    const marks = [bytes('half'), bytes('whole')]
    await state.add([given], marks[0])
    marks[0]!.fill(0)
    state.mark?.fill(0)
    assert.equal(text((await engine.beginImport(9n, { resume: true })).mark), 'half')
    given.value.fill(0)
    given.key.fill(0)
    await (await engine.beginImport(9n, { resume: true })).finish({ ...BASE, mark: marks[1] })
    marks[1]!.fill(0)
    assert.deepEqual([await valueAt(engine, bytes('key')), text(await engine.mark())], ['value', 'whole'])
  }),

  contractCase('refuses wrong arguments of an import', async (engine) => {
    const wrong = async (work: () => unknown, message: RegExp) => fails('invalid_argument', work, message)
    for (const given of [-1n, 1, 2n ** 64n, undefined]) {
      await wrong(() => engine.beginImport(given as bigint), /version of the import/)
      await wrong(() => importState(engine, { ...BASE, version: given as bigint }, []), /version of the import/)
    }
    await wrong(() => engine.beginImport(1n, null as never), /options/)
    await wrong(() => importState(engine, undefined as never, []), /base/)
    await wrong(() => importState(engine, { ...BASE, version: 1n }, 5 as never), /entries/)
    const state = await engine.beginImport(1n)
    await wrong(() => state.add({} as never), /entries/)
    await wrong(() => state.add([null] as never), /entry/)
    await wrong(() => state.add([{ ...entry('a', 0n), value: null }] as never), /value/)
    await wrong(() => state.add([{ ...entry('a', 0n), key: 'a' }] as never), /key/)
    await wrong(() => state.add([{ ...entry('a', 0n), version: 0 }] as never), /version/)
    await wrong(() => state.add([], 'mark' as never), /mark/)
    await wrong(() => state.finish(undefined as never), /base/)
    await wrong(() => state.finish({ chainId: 7 } as never), /block/)
    await wrong(() => state.finish({ ...BASE, block: { ...BASE.block, epoch: 0 } } as never), /epoch/)
    await wrong(() => state.finish({ ...BASE, chainId: '7' } as never), /chain id/)
    await wrong(() => state.finish({ ...BASE, complete: 'no' } as never), /complete/)
    await wrong(() => state.finish({ ...BASE, mark: 'mark' } as never), /mark/)
    assert.deepEqual([await engine.ledger(), await engine.base()], [undefined, undefined])
    await state.finish(BASE)
    assert.equal((await engine.ledger())?.latestVersion, 1n)
  }),
]
