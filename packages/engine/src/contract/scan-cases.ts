import assert from 'node:assert/strict'
import type { KeyedEntry, Write } from '@ledger-state/core'
import type { ScanOptions } from '../ports/state-port.js'
import type { ContractEngine } from './contract-engine.js'
import {
  bytes,
  CHAIN,
  type ContractCase,
  collect,
  contractCase,
  EMPTY,
  fails,
  inTurn,
  rest,
  text,
  version,
} from './support.js'

async function scanned(engine: ContractEngine, at: bigint, prefix: string, options?: ScanOptions) {
  return (await collect((await engine.at(at)).scan(bytes(prefix), options))).map(shown)
}

function shown(entry: KeyedEntry) {
  return `${text(entry.key)}@${entry.version}=${text(entry.value)}`
}

function start(key: string, limit?: number): ScanOptions {
  return { start: bytes(key), limit }
}

/** Keys of a store: more than any engine reads at once. */
const MANY = Array.from({ length: 700 }, (_, at) => `k${String(at).padStart(4, '0')}`)

async function commitMany(engine: ContractEngine): Promise<void> {
  await engine.commit([version(0n, ...MANY.map((key): Write => [bytes(key), bytes('0')]))], CHAIN)
}

export const SCAN_CASES: readonly ContractCase[] = [
  contractCase('scans the keys that begin with a prefix, in the order of their bytes', async (engine) => {
    const long = (last: number) => Uint8Array.from({ length: 3_000 }, (_, at) => (at < 2_999 ? 98 : last))
    const keys = [EMPTY, bytes('a'), bytes('ab'), bytes('b'), long(1), long(2), long(3), Uint8Array.of(255, 255)]
    await engine.commit([version(0n, ...keys.toReversed().map((key): Write => [key, key.subarray(0, 2)]))], CHAIN)
    await engine.commit([version(1n, [keys[2]!, null], [bytes('abc'), bytes('new')])], CHAIN)
    const scan = async (prefix: Uint8Array, at: bigint, options?: ScanOptions) =>
      (await collect((await engine.at(at)).scan(prefix, options))).map(({ key }) => hex(key))
    // Compared as texts: `node:assert` takes a second to print how lists of bytes differ.
    const hex = (key: Uint8Array) => Buffer.from(key).toString('hex')
    const lists = (...chosen: Uint8Array[]) => chosen.map(hex)
    assert.deepEqual(await scan(EMPTY, 0n), lists(...keys))
    assert.deepEqual(await scan(bytes('a'), 0n), lists(keys[1]!, keys[2]!))
    assert.deepEqual(await scan(bytes('a'), 1n), lists(keys[1]!, bytes('abc')))
    assert.deepEqual(await scan(long(2), 1n), lists(long(2)))
    assert.deepEqual(await scan(bytes('b'), 1n), lists(keys[3]!, long(1), long(2), long(3)))
    assert.deepEqual(await scan(bytes('b'), 1n, { start: long(2) }), lists(long(2), long(3)))
    assert.deepEqual(await scan(EMPTY, 1n, { start: long(1), limit: 2 }), lists(long(1), long(2)))
    assert.deepEqual(await scan(Uint8Array.of(255), 1n), lists(keys[7]!))
    assert.deepEqual(await scan(bytes('c'), 1n), [])
  }),

  contractCase(
    'scans with the version and the value that each entry had at the version of the view',
    async (engine) => {
      const write = (key: string, value: string | null): Write => [bytes(key), value === null ? null : bytes(value)]
      await engine.commit([version(1n, write('a', '1'), write('b', '1'), write('c', ''))], CHAIN)
      await engine.commit([version(2n, write('b', '2'))], CHAIN)
      await engine.commit([version(3n, write('a', null), write('d', '3'))], CHAIN)
      assert.deepEqual(await scanned(engine, 1n, ''), ['a@1=1', 'b@1=1', 'c@1='])
      assert.deepEqual(await scanned(engine, 2n, ''), ['a@1=1', 'b@2=2', 'c@1='])
      assert.deepEqual(await scanned(engine, 3n, ''), ['b@2=2', 'c@1=', 'd@3=3'])
    },
  ),

  contractCase('scans from a start key, and not more than a limit', async (engine) => {
    await engine.commit([version(0n, ...['a', 'ba', 'bb', 'bd', 'c'].map((key): Write => [bytes(key), EMPTY]))], CHAIN)
    await engine.commit([version(1n, [bytes('bb'), null], [bytes('bc'), EMPTY])], CHAIN)
    const keys = async (prefix: string, options: ScanOptions, at = 1n) =>
      (await collect((await engine.at(at)).scan(bytes(prefix), options))).map(({ key }) => text(key)).join(' ')
    assert.equal(await keys('b', {}), 'ba bc bd')
    assert.equal(await keys('b', start('a')), 'ba bc bd')
    assert.equal(await keys('b', start('ba')), 'ba bc bd')
    assert.equal(await keys('b', start('baa')), 'bc bd')
    assert.equal(await keys('b', start('bb')), 'bc bd')
    assert.equal(await keys('b', start('bd')), 'bd')
    assert.equal(await keys('b', start('be')), '')
    assert.equal(await keys('b', start('c')), '')
    assert.equal(await keys('', start('bd')), 'bd c')
    assert.equal(await keys('b', { limit: 0 }), '')
    assert.equal(await keys('b', { limit: 1 }), 'ba')
    // Keys that do not exist at the version do not count against the limit.
    assert.equal(await keys('b', { limit: 2 }), 'ba bc')
    assert.equal(await keys('b', { limit: 2 }, 0n), 'ba bb')
    assert.equal(await keys('b', start('baa', 1)), 'bc')
    assert.equal(await keys('b', { limit: 99 }), 'ba bc bd')
    assert.equal(await keys('b', { start: undefined, limit: undefined }), 'ba bc bd')
  }),

  contractCase('pages through a long scan by its start key', async (engine) => {
    await commitMany(engine)
    const gone = MANY.filter((_, at) => at % 3 === 0)
    await engine.commit([version(1n, ...gone.map((key): Write => [bytes(key), null]))], CHAIN)
    const left = MANY.filter((_, at) => at % 3 !== 0)
    for (const limit of [1, 7, 100, 300]) {
      const found: string[] = []
      for (let next: Uint8Array | undefined = EMPTY; next && found.length < left.length + limit; ) {
        const page: KeyedEntry[] = await collect((await engine.at(1n)).scan(bytes('k'), { start: next, limit }))
        found.push(...page.map(({ key }) => text(key)!))
        next = page.length === limit ? Uint8Array.from([...page.at(-1)!.key, 0]) : undefined
        if (limit === 1 && found.length === 20) break
      }
      assert.deepEqual(found, limit === 1 ? left.slice(0, 20) : left)
    }
  }),

  contractCase('goes through a scan unchanged while versions are committed', async (engine) => {
    await commitMany(engine)
    const scan = (await engine.at()).scan(EMPTY)[Symbol.asyncIterator]()
    const found = [(await scan.next()).value as KeyedEntry]
    const later = MANY.map((key, at): Write => [bytes(key), at % 2 === 0 ? null : bytes('1')])
    await engine.commit([version(1n, ...later, [bytes('k0000a'), bytes('1')])], CHAIN)
    found.push(...(await collect(rest(scan))))
    assert.deepEqual(
      found.map(shown),
      MANY.map((key) => `${key}@0=0`),
    )
  }),

  contractCase('breaks a scan off that a prune overtakes', async (engine) => {
    await commitMany(engine)
    await engine.commit([version(1n, [bytes(MANY[1]!), bytes('1')])], CHAIN)
    const [overtaken, kept] = await inTurn([0n, 1n], async (at) =>
      (await engine.at(at)).scan(EMPTY)[Symbol.asyncIterator](),
    )
    const notBegun = (await engine.at(0n)).scan(EMPTY)
    await overtaken!.next()
    await kept!.next()
    await engine.prune(1n)
    await fails('version_pruned', () => collect(rest(overtaken!)))
    await fails('version_pruned', () => collect(notBegun))
    assert.equal(shown((await kept!.next()).value), `${MANY[1]}@1=1`)
  }),
]
