import assert from 'node:assert/strict'
import {
  bytes,
  CHAIN,
  type ContractCase,
  collect,
  contractCase,
  fails,
  rest,
  text,
  version,
  versionsOf,
} from './support.js'

const K = bytes('k')
const LONGEST = 65_536

export const MARK_CASES: readonly ContractCase[] = [
  contractCase('replaces the mark, and changes nothing else', async (engine, reopen) => {
    await engine.commit(versionsOf(K, 0n, ['a', 'b', 'c', 'd']), { ...CHAIN, mark: bytes('of the commit') })
    const calls: unknown[] = []
    const remove = engine.onCommit((ledger) => calls.push(ledger))
    const before = await engine.ledger()
    const views = [await engine.at(1n), await engine.at()]
    const history = engine.history(K, { order: 'asc' })[Symbol.asyncIterator]()
    await history.next()
    for (const name of ['first', 'second']) {
      const mark = bytes(name)
      await engine.putMark(mark)
      mark.fill(0)
      const held = await engine.mark()
      assert.equal(text(held), name)
      held!.fill(0)
      assert.equal(text(await engine.mark()), name)
    }
    assert.deepEqual(await engine.ledger(), before)
    assert.deepEqual(await Promise.all(views.map(async (view) => text(await view.get(K)))), ['b', 'd'])
    assert.deepEqual(
      (await collect(rest(history))).map(({ value }) => text(value)),
      ['b', 'c', 'd'],
    )
    assert.deepEqual(calls, [])
    remove()
    const again = await reopen()
    assert.equal(text(await again.mark()), 'second')
    assert.deepEqual(await again.ledger(), before)
    await again.commit([version(4n)], CHAIN)
    assert.equal(await again.mark(), undefined)
  }),

  contractCase('replaces the mark in the order of calls', async (engine, reopen) => {
    const commit = (number: bigint) => engine.commit([version(number)], { ...CHAIN, mark: bytes(`${number}`) })
    await commit(0n)
    await Promise.all([engine.putMark(bytes('put')), commit(1n)])
    assert.equal(text(await engine.mark()), '1')
    await Promise.all([commit(2n), engine.putMark(bytes('put at 2')), commit(3n), engine.putMark(bytes('put at 3'))])
    assert.equal(text(await engine.mark()), 'put at 3')
    await engine.truncateTo(1n, { mark: bytes('back at 1') })
    assert.equal(text(await engine.mark()), 'back at 1')
    await engine.putMark(bytes('put at 1'))
    await engine.prune(1n)
    assert.equal(text(await engine.mark()), 'put at 1')
    const again = await reopen()
    assert.equal(text(await again.mark()), 'put at 1')
    assert.equal((await again.ledger())?.latestVersion, 1n)
  }),

  contractCase('replaces the mark of an import, and takes marks again and again', async (engine, reopen) => {
    const state = await engine.beginImport(7n)
    await state.add([{ key: K, version: 3n, value: bytes('a') }])
    await state.finish({ ...CHAIN, block: { height: 0n, epoch: 0n, timestampUsec: 0n } })
    for (let number = 0; number < 20; number++) await engine.putMark(new Uint8Array(LONGEST).fill(number))
    assert.deepEqual(await engine.mark(), new Uint8Array(LONGEST).fill(19))
    const again = await reopen()
    assert.deepEqual(await again.mark(), new Uint8Array(LONGEST).fill(19))
    assert.equal(text(await (await again.at(7n)).get(K)), 'a')
  }),

  contractCase('refuses a mark for an empty store, and one that is no mark', async (engine) => {
    await fails('no_ledger', () => engine.putMark(bytes('m')))
    await engine.commit([version(0n)], { ...CHAIN, mark: bytes('m') })
    // biome-ignore lint/suspicious/noExplicitAny: no type allows these calls
    const loose = engine as any
    for (const wrong of [undefined, null, 'm', 1n]) await fails('invalid_argument', () => loose.putMark(wrong), /mark/)
    await fails('invalid_argument', () => engine.putMark(new Uint8Array(LONGEST + 1)))
    assert.equal(text(await engine.mark()), 'm')
  }),
]
