import assert from 'node:assert/strict'
import { type BlockInfo, isLedgerStateError, U64_MAX, type VersionWrites, type Write } from '@ledger-state/core'
import { importState } from '../write/import-state.js'
import type { StateWriter } from './ports.js'

/** One thing that every engine does, as a test to be run with a fresh, empty engine. */
export interface ContractCase {
  readonly name: string
  run(engine: StateWriter): Promise<void>
}

const CHAIN = { chainId: 7 }

function bytes(text: string): Uint8Array {
  return new TextEncoder().encode(text)
}

function text(value: Uint8Array | null | undefined): string | null | undefined {
  return value && new TextDecoder().decode(value)
}

function block(height: bigint): BlockInfo {
  return { height, epoch: height >> 2n, timestampUsec: height }
}

/** A version that is a block of its own. */
function version(number: bigint, ...writes: Write[]): VersionWrites {
  return { version: number, block: block(number), writes }
}

async function fails(code: string, work: () => unknown): Promise<void> {
  await assert.rejects(
    async () => work(),
    (error) => {
      assert.ok(isLedgerStateError(error), String(error))
      assert.equal(error.code, code)
      return true
    },
  )
}

/** What a `StateWriter` has to do, whatever it is made of: `for (const { name, run } of …) it(name, …)`. */
export const STATE_ENGINE_CONTRACT: readonly ContractCase[] = [
  {
    name: 'has no ledger before the first commit',
    async run(engine) {
      assert.equal(engine.ledger, undefined)
      await fails('no_ledger', () => engine.at())
      await fails('no_ledger', () => engine.blockAt(0n))
      await fails('no_ledger', () => [...engine.history(bytes('k'))])
      await fails('no_ledger', () => engine.prune(1n))
    },
  },
  {
    name: 'answers the newest write at or below a version, and tells a deletion from what was never written',
    async run(engine) {
      await engine.commit([version(5n, [bytes('k'), bytes('a')])], CHAIN)
      await engine.commit([version(6n), version(7n, [bytes('k'), null]), version(8n, [bytes('k'), bytes('')])], CHAIN)
      const answers = [5n, 6n, 7n, 8n].map((at) => text(engine.at(at).get(bytes('k'))))
      assert.deepEqual(answers, ['a', 'a', undefined, ''])
      assert.equal(engine.at().get(bytes('other')), undefined)
      assert.equal(engine.at(6n).getEntry(bytes('k'))?.version, 5n)
      assert.deepEqual([engine.at(7n).has(bytes('k')), engine.at(8n).has(bytes('k'))], [false, true])
      assert.deepEqual(
        engine
          .at(6n)
          .getMany([bytes('k'), bytes('other'), bytes('k')])
          .map(text),
        ['a', undefined, 'a'],
      )
      assert.equal(text(engine.at(6n).peek(bytes('k'))), 'a')
    },
  },
  {
    name: 'refuses versions outside the window',
    async run(engine) {
      await engine.commit([version(5n, [bytes('k'), bytes('a')]), version(6n), version(7n)], CHAIN)
      await fails('version_pruned', () => engine.at(4n))
      await fails('version_not_found', () => engine.at(8n))
      const overtaken = engine.at(5n)
      await engine.prune(1n)
      await fails('version_pruned', () => overtaken.get(bytes('k')))
      await fails('version_pruned', () => overtaken.get(bytes('never written')))
      await fails('version_pruned', () => [...overtaken.scan(bytes(''))])
      await fails('version_pruned', () => engine.blockAt(5n))
      assert.equal(text(engine.at(7n).get(bytes('k'))), 'a')
    },
  },
  {
    name: 'keeps a value that was written before the window and deleted inside it, and forgets the deletion in time',
    async run(engine) {
      await engine.commit([version(0n, [bytes('k'), bytes('a')]), version(1n), version(2n, [bytes('k'), null])], CHAIN)
      await engine.prune(2n)
      assert.deepEqual([text(engine.at(1n).get(bytes('k'))), engine.at(2n).get(bytes('k'))], ['a', undefined])
      assert.equal((await engine.prune(1n)).droppedEntries, 2)
      assert.equal(engine.at(2n).get(bytes('k')), undefined)
      await engine.commit([version(3n, [bytes('k'), bytes('b')])], CHAIN)
      assert.equal(text(engine.at(3n).get(bytes('k'))), 'b')
      assert.equal(engine.at(2n).get(bytes('k')), undefined)
    },
  },
  {
    name: 'makes the window begin at a block, and never moves it back',
    async run(engine) {
      const versions = Array.from({ length: 30 }, (_, at): VersionWrites => {
        const begins = at % 10 === 0 ? { block: block(BigInt(at / 10)) } : {}
        return { version: BigInt(at), ...begins, writes: [] }
      })
      await engine.commit(versions, CHAIN)
      assert.equal((await engine.prune(15n)).oldestVersion, 20n)
      assert.equal((await engine.prune(25n)).oldestVersion, 20n)
      assert.equal((await engine.prune(1n)).oldestVersion, 20n)
      assert.deepEqual(engine.ledger?.oldestBlock, block(2n))
      assert.deepEqual(engine.blockAt(29n), { firstVersion: 20n, block: block(2n) })
      await fails('invalid_argument', () => engine.prune(0n))
    },
  },
  {
    name: 'is as before after a batch that it refuses',
    async run(engine) {
      await fails('block_order', () => engine.commit([{ version: 0n, writes: [] }], CHAIN))
      await engine.commit([version(0n, [bytes('k'), bytes('a')])], CHAIN)
      const before = engine.ledger
      const good = version(1n, [bytes('k'), bytes('b')])
      const refused: readonly (readonly [string, readonly unknown[], number?])[] = [
        ['version_gap', [version(2n)]],
        ['version_gap', [version(0n)]],
        ['version_gap', [good, version(3n)]],
        ['block_order', [good, { version: 2n, block: block(1n), writes: [] }]],
        ['duplicate_key', [good, version(2n, [bytes('k'), bytes('c')], [bytes('k'), null])]],
        ['chain_id_mismatch', [good], 8],
        ['invalid_argument', [good], 256],
        ['invalid_argument', [{ ...good, version: 1 }]],
        ['invalid_argument', [{ ...good, version: U64_MAX + 1n }]],
        ['invalid_argument', [{ ...good, writes: [['k', bytes('a')]] }]],
        ['invalid_argument', [{ ...good, writes: [[bytes('k'), 'a']] }]],
        ['invalid_argument', [{ ...good, block: { ...good.block, height: -1n } }]],
        ['key_too_long', [good, version(2n, [new Uint8Array(65_537), bytes('')])]],
        ['value_too_long', [good, version(2n, [bytes('l'), new Uint8Array(16_777_217)])]],
      ]
      for (const [code, versions, chainId = 7] of refused) {
        await fails(code, () => engine.commit(versions as VersionWrites[], { chainId }))
        assert.deepEqual(engine.ledger, before)
        assert.equal(text(engine.at().get(bytes('k'))), 'a')
      }
      await engine.commit([good], CHAIN)
      assert.equal(text(engine.at().get(bytes('k'))), 'b')
    },
  },
  {
    name: 'takes the longest key, the empty key and the largest value',
    async run(engine) {
      const long = new Uint8Array(65_536).fill(97)
      const longer = Uint8Array.from(long).fill(98, 65_535)
      const large = new Uint8Array(16_777_216).fill(7)
      const empty = new Uint8Array(0)
      await engine.commit([version(0n, [long, bytes('long')], [empty, large])], CHAIN)
      await engine.commit([version(1n, [longer, bytes('longer')], [empty, bytes('small')])], CHAIN)
      assert.deepEqual(
        [long, longer].map((key) => text(engine.at().get(key))),
        ['long', 'longer'],
      )
      assert.equal(text(engine.at(1n).get(empty)), 'small')
      assert.ok(
        engine
          .at(0n)
          .get(empty)
          ?.every((byte) => byte === 7),
      )
      assert.equal(engine.at(0n).get(longer), undefined)
    },
  },
  {
    name: 'is exact over the whole range of versions',
    async run(engine) {
      const base = U64_MAX - 2n
      await engine.commit([version(base, [bytes('k'), bytes('a')]), version(base + 1n)], CHAIN)
      await engine.commit([{ ...version(U64_MAX, [bytes('k'), bytes('b')]), block: block(U64_MAX) }], CHAIN)
      assert.deepEqual(
        [base, base + 1n, U64_MAX].map((at) => text(engine.at(at).get(bytes('k')))),
        ['a', 'a', 'b'],
      )
      await fails('version_gap', () => engine.commit([version(0n)], CHAIN))
      assert.equal((await engine.prune(1n)).oldestVersion, U64_MAX)
      assert.equal(text(engine.at().get(bytes('k'))), 'b')
    },
  },
  {
    name: 'scans what begins with a prefix, in the order of bytes, as it was at the version',
    async run(engine) {
      const long = (last: number) => Uint8Array.from({ length: 3_000 }, (_, at) => (at < 2_999 ? 98 : last))
      const keys = [bytes(''), bytes('a'), bytes('ab'), bytes('b'), long(1), long(2), long(3), Uint8Array.of(255, 255)]
      await engine.commit([version(0n, ...keys.toReversed().map((key): Write => [key, key.subarray(0, 2)]))], CHAIN)
      await engine.commit([version(1n, [keys[2]!, null], [bytes('abc'), bytes('new')])], CHAIN)
      const scan = (prefix: Uint8Array, at: bigint) => [...engine.at(at).scan(prefix)].map(({ key }) => [...key])
      const lists = (...chosen: Uint8Array[]) => chosen.map((key) => [...key])
      assert.deepEqual(scan(bytes(''), 0n), lists(...keys))
      assert.deepEqual(scan(bytes('a'), 0n), lists(keys[1]!, keys[2]!))
      assert.deepEqual(scan(bytes('a'), 1n), lists(keys[1]!, bytes('abc')))
      assert.deepEqual(scan(long(2), 1n), lists(long(2)))
      assert.deepEqual(scan(Uint8Array.of(255), 1n), lists(keys[7]!))
      assert.deepEqual(scan(bytes('c'), 1n), [])
      const [entry] = engine.at(1n).scan(bytes('abc'))
      assert.deepEqual([entry?.version, text(entry?.value)], [1n, 'new'])
    },
  },
  {
    name: 'tells the history of a key inside the window, newest first',
    async run(engine) {
      const key = bytes('k')
      const writes = ['a', undefined, null, 'b', undefined, 'c']
      const versions = writes.map((value, at) => {
        const written: Write[] = value === undefined ? [] : [[key, value === null ? null : bytes(value)]]
        return version(BigInt(at), ...written)
      })
      await engine.commit(versions, CHAIN)
      const history = () => [...engine.history(key)].map(({ version: at, value }) => [at, text(value)])
      assert.deepEqual(history(), [
        [5n, 'c'],
        [3n, 'b'],
        [2n, null],
        [0n, 'a'],
      ])
      await engine.prune(2n)
      assert.deepEqual(history(), [
        [5n, 'c'],
        [3n, 'b'],
      ])
      assert.deepEqual([...engine.history(bytes('never'))], [])
    },
  },
  {
    name: 'keeps thousands of versions of one key apart, also while they are pruned',
    async run(engine) {
      const key = bytes('k')
      for (let start = 0; start < 2_000; start += 400) {
        const versions = Array.from({ length: 400 }, (_, at) =>
          version(BigInt(start + at), ...((start + at) % 2 === 0 ? [[key, bytes(String(start + at))] as const] : [])),
        )
        await engine.commit(versions, CHAIN)
        await engine.prune(900n)
        const { oldestVersion, latestVersion } = engine.ledger!
        for (let at = oldestVersion; at <= latestVersion; at++) {
          assert.equal(text(engine.at(at).get(key)), String(at - (at % 2n)))
        }
      }
    },
  },
  {
    name: 'imports the state of another engine at a version, whole or not at all',
    async run(engine) {
      const base = { chainId: 7, version: 9n, block: block(3n) }
      const entries = [
        { key: bytes('b'), version: 4n, value: bytes('old') },
        { key: bytes('a'), version: 9n, value: new Uint8Array(20_000).fill(1) },
      ]
      const above = { key: bytes('c'), version: 10n, value: bytes('') }
      await fails('invalid_argument', () => importState(engine, base, [...entries, above]))
      await fails('duplicate_key', () => importState(engine, base, [...entries, entries[0]!]))
      await fails('no_ledger', () => engine.at())
      await importState(engine, base, entries)
      assert.deepEqual([engine.ledger?.oldestVersion, engine.ledger?.latestVersion], [9n, 9n])
      assert.deepEqual(engine.at().getEntry(bytes('b'))?.version, 4n)
      assert.equal(engine.at().get(bytes('a'))?.length, 20_000)
      await fails('store_not_empty', () => importState(engine, base, []))
      await engine.commit([{ version: 10n, writes: [[bytes('b'), bytes('new')]] }], CHAIN)
      assert.deepEqual([text(engine.at(9n).get(bytes('b'))), text(engine.at(10n).get(bytes('b')))], ['old', 'new'])
      assert.deepEqual(engine.blockAt(10n), { firstVersion: 9n, block: block(3n) })
      assert.deepEqual(engine.base, { version: 9n, complete: true })
    },
  },
  {
    name: 'goes on with an import that was cut short, and throws it away when asked, or when versions are committed',
    async run(engine) {
      const entry = (key: string) => ({ key: bytes(key), version: 5n, value: bytes(key) })
      const first = await engine.beginImport(9n)
      await first.add([entry('a'), entry('b')], bytes('half'))
      const again = await engine.beginImport(9n, { resume: true })
      assert.deepEqual([again.entryCount, text(again.mark)], [2, 'half'])
      await again.add([entry('c')])
      assert.deepEqual([again.entryCount, again.mark], [3, undefined])
      await fails('duplicate_key', () => again.add([entry('d'), entry('a')]))
      assert.equal(again.entryCount, 3)
      await again.finish({ chainId: 7, block: block(3n), mark: bytes('there') })
      assert.deepEqual(
        [...engine.at().scan(bytes(''))].map(({ key }) => text(key)),
        ['a', 'b', 'c'],
      )
      assert.equal(text(engine.mark), 'there')
      await fails('invalid_argument', () => again.add([entry('e')]))
    },
  },
  {
    name: 'drops an unfinished import for another, and for a commit',
    async run(engine) {
      const entry = { key: bytes('a'), version: 5n, value: bytes('a') }
      const first = await engine.beginImport(9n)
      await first.add([entry])
      const other = await engine.beginImport(8n, { resume: true })
      assert.equal(other.entryCount, 0)
      await fails('invalid_argument', () => first.add([]))
      await other.add([entry])
      await engine.commit([version(0n, [bytes('k'), bytes('v')])], CHAIN)
      assert.deepEqual([text(engine.at().get(bytes('a'))), text(engine.at().get(bytes('k')))], [undefined, 'v'])
      await fails('invalid_argument', () => other.finish({ chainId: 7, block: block(3n) }))
    },
  },
  {
    name: 'lists what versions wrote, as it can be committed again',
    async run(engine) {
      await fails('no_ledger', () => [...engine.versions(1n, 2n)])
      const versions = [
        version(3n, [bytes('a'), bytes('1')], [bytes('b'), bytes('1')]),
        { version: 4n, writes: [[bytes('b'), null] as const, [bytes('c'), new Uint8Array(9_000)] as const] },
        version(5n),
        version(6n, [bytes('b'), bytes('2')], [bytes('d'), null]),
      ]
      await engine.commit(versions, CHAIN)
      const listed = [...engine.versions(4n, 6n)].map(({ version, block, writes }) => [
        version,
        block?.height,
        writes.map(([key, value]) => [text(key), value ? value.length : null]),
      ])
      assert.deepEqual(listed, [
        [
          4n,
          undefined,
          [
            ['b', null],
            ['c', 9_000],
          ],
        ],
        [5n, 5n, []],
        [6n, 6n, [['b', 1]]],
      ])
      await fails('version_pruned', () => [...engine.versions(3n, 6n)])
      await fails('version_not_found', () => [...engine.versions(4n, 7n)])
      await engine.prune(2n)
      await fails('version_pruned', () => [...engine.versions(5n, 6n)])
      assert.equal([...engine.versions(6n, 6n)].length, 1)
    },
  },
  {
    name: 'knows what it began with, and the mark of its newest commit',
    async run(engine) {
      assert.deepEqual([engine.base, engine.mark], [undefined, undefined])
      await engine.commit([version(4n)], { ...CHAIN, mark: bytes('four') })
      assert.deepEqual([engine.base, text(engine.mark)], [{ version: 4n, complete: false }, 'four'])
      await fails('version_gap', () => engine.commit([version(7n)], { ...CHAIN, mark: bytes('seven') }))
      assert.equal(text(engine.mark), 'four')
      await fails('invalid_argument', () => engine.commit([version(5n)], { ...CHAIN, mark: new Uint8Array(65_537) }))
      await engine.prune(1n)
      assert.equal(text(engine.mark), 'four')
      await engine.commit([version(5n)], CHAIN)
      assert.deepEqual([engine.base, engine.mark], [{ version: 4n, complete: false }, undefined])
    },
  },
]
