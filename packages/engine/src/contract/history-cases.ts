import assert from 'node:assert/strict'
import type { VersionWrites, Write } from '@ledger-state/core'
import type { HistoryOptions, Revision } from '../ports/state-port.js'
import type { ContractEngine } from './contract-engine.js'
import {
  block,
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

async function told(engine: ContractEngine, options?: HistoryOptions, key = K) {
  return (await collect(engine.history(key, options)))
    .map((revision) => `${revision.version}=${text(revision.value)}`)
    .join(' ')
}

/** Reads the history of a key in both orders, and checks that they agree. */
async function toldBothWays(engine: ContractEngine, options: HistoryOptions = {}, key = K) {
  const oldestFirst = await told(engine, { ...options, order: 'asc' }, key)
  assert.equal(await told(engine, { ...options, order: 'desc' }, key), oldestFirst.split(' ').reverse().join(' '))
  return oldestFirst
}

export const HISTORY_CASES: readonly ContractCase[] = [
  contractCase(
    'returns the history of a key inside the window, the newest first unless asked otherwise',
    async (engine) => {
      await engine.commit(versionsOf(K, 0n, ['a', undefined, null, 'b', undefined, '']), CHAIN)
      await engine.commit([version(6n, [bytes('kk'), bytes('other')])], CHAIN)
      assert.equal(await told(engine), '5= 3=b 2=null 0=a')
      assert.equal(await told(engine, { order: 'desc' }), '5= 3=b 2=null 0=a')
      assert.equal(await told(engine, { order: 'asc' }), '0=a 2=null 3=b 5=')
      assert.equal(await told(engine, {}, bytes('never')), '')
      assert.equal(await told(engine, { order: 'asc' }, bytes('never')), '')
      // The oldest version sees earlier writes.
      await engine.prune(3n)
      assert.equal(await toldBothWays(engine), '3=b 5=')
      await engine.prune(1n)
      assert.equal(await toldBothWays(engine), '5=')
    },
  ),

  contractCase('returns no deletion that the oldest version had already seen', async (engine) => {
    await engine.commit(versionsOf(K, 0n, ['a', null, undefined, null, 'b']), CHAIN)
    assert.equal(await toldBothWays(engine), '0=a 1=null 4=b')
    await engine.prune(4n)
    assert.equal(await toldBothWays(engine), '4=b')
  }),

  contractCase('returns the part of a history between two versions', async (engine) => {
    await engine.commit(versionsOf(K, 10n, ['a', undefined, 'b', null, undefined, 'c']), CHAIN)
    const between = (first: bigint | undefined, last?: bigint) => toldBothWays(engine, { first, last })
    assert.equal(await between(undefined), '10=a 12=b 13=null 15=c')
    assert.equal(await between(0n, 99n), '10=a 12=b 13=null 15=c')
    assert.equal(await between(12n, 13n), '12=b 13=null')
    assert.equal(await between(11n, 14n), '12=b 13=null')
    assert.equal(await between(14n, 14n), '')
    assert.equal(await between(15n), '15=c')
    assert.equal(await between(16n), '')
    assert.equal(await between(undefined, 10n), '10=a')
    assert.equal(await between(undefined, 9n), '')
    assert.equal(await between(13n, 12n), '')
    await engine.prune(3n)
    assert.equal((await engine.ledger())?.oldestVersion, 13n)
    assert.equal(await between(undefined), '15=c')
    await engine.commit(versionsOf(K, 16n, ['d', 'e', 'f']), CHAIN)
    await engine.prune(2n)
    // The values that the oldest version sees may be older than itself.
    assert.equal(await between(undefined), '17=e 18=f')
    assert.equal(await between(18n), '18=f')
  }),

  contractCase('returns a write from before the window only where it is asked for', async (engine) => {
    await engine.commit(versionsOf(K, 0n, ['unseen', 'a', undefined, undefined, 'b']), CHAIN)
    await engine.prune(3n)
    assert.equal((await engine.ledger())?.oldestVersion, 2n)
    assert.equal(await toldBothWays(engine), '1=a 4=b')
    assert.equal(await toldBothWays(engine, { first: 1n, last: 3n }), '1=a')
    assert.equal(await toldBothWays(engine, { first: 0n, last: 1n }), '1=a')
    assert.equal(await toldBothWays(engine, { first: 2n }), '4=b')
    assert.equal(await toldBothWays(engine, { first: 0n, last: 0n }), '')
  }),

  contractCase('returns any part of a deep history, from both ends', async (engine) => {
    const values = Array.from({ length: 900 }, (_, at) => (at % 3 === 0 ? `${at}` : at % 90 === 1 ? null : undefined))
    const expected = values.flatMap((value, at) =>
      value === undefined ? [] : [[BigInt(at), `${at}=${value}`] as const],
    )
    for (let first = 0; first < values.length; first += 100) {
      await engine.commit(versionsOf(K, BigInt(first), values.slice(first, first + 100)), CHAIN)
    }
    for (const [first, last] of [
      [0n, 899n],
      [1n, 2n],
      [299n, 301n],
      [300n, 300n],
      [360n, 540n],
      [888n, 899n],
    ] as const) {
      const part = expected.filter(([at]) => at >= first && at <= last).map(([, one]) => one)
      assert.equal(await toldBothWays(engine, { first, last }), part.join(' '))
    }
    await engine.prune(450n)
    const kept = expected.filter(([at]) => at >= 450n).map(([, one]) => one)
    assert.equal(await toldBothWays(engine), kept.join(' '))
  }),

  contractCase(
    'finds the nearest write of each key above and until a version, as their histories say',
    async (engine) => {
      const other = bytes('other')
      const never = bytes('never')
      await engine.commit(versionsOf(K, 0n, ['a', undefined, null, 'b', undefined, '', null, undefined, 'c']), CHAIN)
      await engine.commit(versionsOf(other, 9n, ['1', undefined, '2', null, undefined]), CHAIN)
      for (const retained of [14n, 9n, 3n]) {
        await engine.prune(retained)
        const { oldestVersion, latestVersion } = (await engine.ledger())!
        for (let at = oldestVersion; at <= latestVersion; at++) {
          for (const last of [at, at + 2n, latestVersion + 5n]) {
            const above = await engine.nearestWrites([K, never, other], { above: at, last })
            assert.deepEqual(above, [await nearest(K, at + 1n, last), undefined, await nearest(other, at + 1n, last)])
          }
          const until = await engine.nearestWrites([other, K, never], { until: at })
          assert.deepEqual(until, [await newest(other, at), await newest(K, at), undefined])
        }
        if (oldestVersion === 0n) continue
        await fails('version_pruned', () =>
          engine.nearestWrites([K], { above: oldestVersion - 1n, last: latestVersion }),
        )
        await fails('version_pruned', () => engine.nearestWrites([K], { until: oldestVersion - 1n }))
      }
      assert.deepEqual(await engine.nearestWrites([], { until: 13n }), [])

      async function nearest(key: Uint8Array, first: bigint, last: bigint) {
        for await (const revision of engine.history(key, { first, last, order: 'asc' })) return revision.version
        return undefined
      }
      async function newest(key: Uint8Array, last: bigint) {
        for await (const revision of engine.history(key, { last })) return revision.version
        return undefined
      }
    },
  ),

  contractCase('goes through a history unchanged while versions are committed', async (engine) => {
    const values = Array.from({ length: 200 }, (_, at) => `${at}`)
    await engine.commit(versionsOf(K, 0n, values), CHAIN)
    for (const order of ['desc', 'asc'] as const) {
      const latest = Number((await engine.ledger())!.latestVersion)
      const found: string[] = []
      let next = latest + 1
      for await (const revision of engine.history(K, { order })) {
        found.push(text(revision.value)!)
        if (found.length % 50 !== 1) continue
        const later = Array.from({ length: 40 }, (_, at): Write => [K, bytes(`${next + at}`)])
        await engine.commit(
          later.map((write) => version(BigInt(next++), write)),
          CHAIN,
        )
      }
      const expected = Array.from({ length: latest + 1 }, (_, at) => `${at}`)
      assert.deepEqual(found, order === 'asc' ? expected : expected.reverse())
    }
  }),

  contractCase('breaks a history off that a prune overtakes', async (engine) => {
    await engine.commit(versionsOf(K, 0n, ['a', 'b', 'c', 'd', 'e', 'f']), CHAIN)
    for (const order of ['desc', 'asc'] as const) {
      const { oldestVersion, latestVersion } = (await engine.ledger())!
      const history = engine.history(K, { order })[Symbol.asyncIterator]()
      assert.equal((await history.next()).value?.version, order === 'desc' ? latestVersion : oldestVersion)
      await engine.prune(latestVersion - oldestVersion - 1n)
      await fails('version_pruned', () => collect(rest(history)))
    }
  }),

  contractCase(
    'lists a history, the newest first, down to the write that the new oldest version sees',
    async (engine) => {
      const other = bytes('other')
      const never = bytes('never')
      const values = ['a', 'b', 'c', 'd', undefined, undefined, 'g', null, 'i', 'j']
      await engine.commit(
        versionsOf(K, 0n, values).map((one): VersionWrites => {
          const more: Write[] = one.version === 4n ? [[other, null]] : [[other, bytes(`${one.version}`)]]
          return { ...one, writes: one.version === 5n ? one.writes : [...one.writes, ...more] }
        }),
        CHAIN,
      )
      const open = (key: Uint8Array, options?: HistoryOptions) => engine.history(key, options)[Symbol.asyncIterator]()
      const histories = [open(K), open(other), open(K, { first: 3n }), open(K, { last: 4n }), open(K, { first: 4n })]
      for (const [at, version] of [9n, 9n, 9n, 3n, 9n].entries())
        assert.equal((await histories[at]!.next()).value?.version, version)
      await engine.prune(5n)
      assert.equal((await engine.ledger())!.oldestVersion, 5n)
      const [all, deleted, bounded, below, above] = histories
      const next = async (history: AsyncIterator<Revision>, count: number) => {
        const found: string[] = []
        while (found.length < count) {
          const { version, value } = (await history.next()).value!
          found.push(`${version}=${value ? text(value) : null}`)
        }
        return found.join(' ')
      }
      assert.equal(await next(all!, 4), '8=i 7=null 6=g 3=d')
      await fails('version_pruned', () => all!.next())
      assert.equal(await next(deleted!, 3), '8=8 7=7 6=6')
      await fails('version_pruned', () => deleted!.next())
      assert.equal(await next(bounded!, 4), '8=i 7=null 6=g 3=d')
      assert.equal((await bounded!.next()).done, true)
      await fails('version_pruned', () => below!.next())
      assert.equal(await next(above!, 3), '8=i 7=null 6=g')
      assert.deepEqual(await collect(engine.history(never)), [])
    },
  ),

  contractCase('finishes a history above the versions that a prune removes', async (engine) => {
    await engine.commit(versionsOf(K, 0n, ['a', 'b', 'c', 'd', 'e', 'f']), CHAIN)
    for (const order of ['desc', 'asc'] as const) {
      const history = engine.history(K, { first: 4n, order })[Symbol.asyncIterator]()
      const found = [(await history.next()).value?.version]
      await engine.prune(order === 'desc' ? 4n : 3n)
      found.push((await history.next()).value?.version)
      assert.equal((await history.next()).done, true)
      assert.deepEqual(found.sort(), [4n, 5n])
    }
  }),

  contractCase('lists the writes of versions, so that they can be committed again', async (engine) => {
    const versions = [
      version(3n, [bytes('a'), bytes('1')], [bytes('b'), bytes('1')]),
      { version: 4n, writes: [[bytes('b'), null] as const, [bytes('c'), new Uint8Array(9_000)] as const] },
      version(5n),
      version(6n, [bytes('b'), bytes('')], [bytes('d'), null]),
    ]
    await engine.commit(versions, CHAIN)
    const listed = async (first: bigint, last: bigint) =>
      (await collect(engine.versions(first, last))).map((one) => [
        one.version,
        one.block,
        one.writes.map(([key, value]) => `${text(key)}=${value ? value.length : null}`).join(' '),
      ])
    const all = [
      [4n, undefined, 'b=null c=9000'],
      [5n, block(5n), ''],
      [6n, block(6n), 'b=0'],
    ]
    assert.deepEqual(await listed(4n, 6n), all)
    assert.deepEqual(await listed(5n, 5n), all.slice(1, 2))
    await fails('version_pruned', async () => await collect(engine.versions(3n, 6n)))
    await fails('version_not_found', async () => await collect(engine.versions(4n, 7n)))
    const overtaken = engine.versions(4n, 6n)[Symbol.asyncIterator]()
    await overtaken.next()
    await engine.prune(2n)
    await fails('version_pruned', async () => await collect(engine.versions(5n, 6n)))
    await fails('version_pruned', () => collect(rest(overtaken)))
    assert.deepEqual(await listed(6n, 6n), all.slice(2))
  }),
]
