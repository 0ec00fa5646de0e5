import { Buffer } from 'node:buffer'
import { randomBytes } from 'node:crypto'
import zlib from 'node:zlib'
import { ByteReader, ByteWriter } from '@ledger-state/core'
import { LedgerHasher } from '@ledger-state/proof'
import { computeEventRoot } from '@ledger-state/proof/transactions'
import { parseStructTag, resourceKey, tableItemKey } from '@ledger-state/type-tag'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { decompress as decompressOnNode } from './decompress/node-decompress.js'
import { decompress as decompressPortably } from './decompress/portable-decompress.js'
import { decodeGroupedVersions, encodeGroupedVersions } from './grouped-versions.js'
import { outlineToInfo } from './info-outline.js'
import {
  affectedAccountKey,
  isWholeTransactionKey,
  nonceKey,
  sequenceNumberKey,
  transactionBlockKey,
} from './own-keys.js'
import { decodeTransactionBlock, placeOfBlock } from './transaction-block.js'
import { noTransactionWrite, TransactionGroup } from './transaction-group.js'
import { type WholeTransaction, withValues } from './whole-transaction.js'

const hasher = new LedgerHasher()
const TAG = parseStructTag('0x1::m::R')
const NO_EVENTS = Uint8Array.of(0)

const bytes32 = fc.uint8Array({ minLength: 32, maxLength: 32 })

/** A transaction of any bytes that begin with the tag of a state checkpoint, and an info with its hashes. */
const wholes = fc
  .record({
    rest: fc.uint8Array({ maxLength: 300 }),
    address: bytes32,
    value: fc.uint8Array({ maxLength: 2_000 }),
    stateRoot: fc.option(bytes32, { nil: undefined }),
    indexInBlock: fc.option(fc.nat(2 ** 31), { nil: undefined }),
  })
  .map(({ rest, address, value, stateRoot, indexInBlock }) => {
    const transaction = Uint8Array.of(3, ...rest)
    const key = resourceKey(address, TAG)
    const writeSet = new ByteWriter().u8(0).uleb128(1).bytes(key).u8(0).byteString(value).toBytes()
    const info = new ByteWriter()
      .u8(0)
      .u64(77n)
      .u8(0)
      .bytes(hasher.hash('Transaction', transaction))
      .bytes(computeEventRoot(new ByteReader(NO_EVENTS), hasher))
      .bytes(hasher.hash('WriteSet', writeSet))
      .bool(stateRoot !== undefined)
    if (stateRoot) info.bytes(stateRoot)
    return { transaction, writeSet, info: info.u8(0).toBytes(), events: NO_EVENTS, indexInBlock, address, value }
  })

function wholeOf(version: bigint, parts: Omit<WholeTransaction, 'leaf' | 'readFrontier'>): WholeTransaction {
  const leaf = hasher.hash('TransactionInfo', parts.info)
  return {
    ...parts,
    leaf,
    readFrontier: () =>
      new ByteWriter()
        .u64(version + 1n)
        .bytes(leaf)
        .toBytes(),
  }
}

const hex = (bytes: Uint8Array) => Buffer.from(bytes).toString('hex')

describe('a block of transactions', () => {
  it('gives back all of them, with their infos', async () => {
    const lists = fc.array(wholes, { minLength: 1, maxLength: 20 })
    await fc.assert(
      fc.asyncProperty(lists, fc.bigInt(0n, 10n ** 9n), async (list, run) => {
        const first = run * 128n
        const group = new TransactionGroup(first)
        for (const [at, one] of list.entries()) {
          const version = first + BigInt(at)
          const whole = wholeOf(version, one)
          expect(isWholeTransactionKey(group.add(version, whole, [])[0]![0])).toBe(true)
        }
        const { writes, tooLong } = group.toWrites()
        expect(tooLong).toEqual([])
        expect([...writes.keys()]).toEqual([first])
        const [[key, value]] = writes.get(first) as [[Uint8Array, Uint8Array]]
        expect(key).toEqual(transactionBlockKey(first + 127n))
        expect(placeOfBlock(value)).toMatchObject({ firstVersion: first, group: first })
        for (let times = 0; times < 2; times++) {
          const block = decodeTransactionBlock(value)
          expect(block.firstVersion).toBe(first)
          expect(block.transactions.length).toBe(list.length)
          for (const [at, stored] of block.transactions.entries()) {
            const { transaction, writeSet, events, info, indexInBlock, value } = list[at]!
            const known = withValues(stored.writeSet, () => value)!
            const eventRoot = computeEventRoot(new ByteReader(stored.events), hasher)
            const parts = { transaction: stored.transaction, eventRoot, writeSet: known }
            expect(hex(known)).toBe(hex(writeSet))
            expect(hex(stored.transaction)).toBe(hex(transaction))
            expect(hex(stored.events)).toBe(hex(events))
            expect(hex(outlineToInfo(stored.outline, stored.hashesAt, parts, hasher))).toBe(hex(info))
            expect(hex(stored.leaf)).toBe(hex(hasher.hash('TransactionInfo', info)))
            expect(stored.indexInBlock).toBe(indexInBlock)
          }
        }
      }),
      { numRuns: 50 },
    )
  })

  it('of damaged bytes is refused as such, and nothing else is thrown', async () => {
    const parts = fc.sample(wholes, { numRuns: 3, seed: 5 })
    const group = new TransactionGroup(0n)
    for (const [at, one] of parts.entries()) group.add(BigInt(at), wholeOf(BigInt(at), one), [])
    const [[, value]] = group.toWrites().writes.get(0n) as [[Uint8Array, Uint8Array]]
    fc.assert(
      fc.property(fc.nat(value.length - 1), fc.integer({ min: 1, max: 255 }), fc.boolean(), (at, change, isCut) => {
        const damaged = isCut ? value.subarray(0, at) : Uint8Array.from(value)
        if (!isCut) damaged[at] = damaged[at]! ^ change
        try {
          decodeTransactionBlock(damaged)
        } catch (error) {
          expect(error).toMatchObject({ code: 'invalid_bcs' })
        }
      }),
    )
    // A small value that claims to be long once it is decompressed.
    const claim = new ByteWriter().u8(3).uleb128(1).uleb128(0).byteString(new Uint8Array(8)).bytes(new Uint8Array(32))
    const bomb = claim.uleb128(60_000_000).bytes(new Uint8Array(100)).toBytes()
    expect(() => decodeTransactionBlock(bomb)).toThrow(expect.objectContaining({ code: 'invalid_bcs' }))
  })

  it('that is too long for a store is not made, and no index names its transaction', async () => {
    const [parts] = fc.sample(wholes, { numRuns: 1, seed: 5 })
    const key = resourceKey(parts!.address, TAG)
    for (const place of ['shared', 'own'] as const) {
      const group = new TransactionGroup(5n, place)
      const long = { ...parts!, transaction: randomBytes(17 << 20) }
      group.add(5n, wholeOf(5n, long), [[key, parts!.value]])
      group.add(6n, wholeOf(6n, parts!), [[key, parts!.value]])
      const { writes, tooLong } = group.toWrites()
      expect(tooLong).toEqual([5n])
      expect(writes.get(5n)![0]).toEqual(noTransactionWrite(5n, place))
      expect(writes.get(6n)![0]![1]!.length).toBeGreaterThan(0)
      const rows = [...writes].flatMap(([, made]) => made.slice(1))
      const listed = rows.map(([, row]) => decodeGroupedVersions(row!, false).versions.map(({ version }) => version))
      expect(listed).toEqual([[6n]])
    }
  })

  it('ends with its run, and once it is full; those of one group say where it began', async () => {
    const [parts] = fc.sample(wholes, { numRuns: 1, seed: 5 })
    for (const place of ['shared', 'shared_with_values', 'own'] as const) {
      const group = new TransactionGroup(125n, place)
      const full = { ...parts!, transaction: new Uint8Array(65_536) }
      for (const version of [125n, 126n, 127n, 128n, 129n, 131n])
        group.add(version, wholeOf(version, version === 127n ? full : parts!), [])
      const { writes } = group.toWrites()
      const begun = [...writes.values()].map((made) => placeOfBlock(made[0]![1]!)!)
      expect(begun.map(({ firstVersion }) => firstVersion)).toEqual([125n, 127n, 128n, 131n])
      for (const { firstVersion, group } of begun) expect(group).toBe(place === 'own' ? firstVersion : 125n)
    }
  })
})

describe.each([
  ['Node', decompressOnNode],
  ['any runtime', decompressPortably],
])('decompression on %s', (_, decompress) => {
  const LEVEL = zlib.constants.ZSTD_c_compressionLevel

  it('gives back everything, and no more than requested', () => {
    const words = fc.array(fc.constantFrom('0x1::coin', '::deposit', 'a', '\u0000'.repeat(40)), { maxLength: 3_000 })
    fc.assert(
      fc.property(words, fc.uint8Array({ maxLength: 300 }), fc.integer({ min: -5, max: 19 }), (list, rest, level) => {
        const plain = Buffer.concat([Buffer.alloc(60, 1), Buffer.from(list.join('')), rest])
        for (const pledgedSrcSize of [plain.length, undefined]) {
          const compressed = zlib.zstdCompressSync(plain, { params: { [LEVEL]: level }, pledgedSrcSize })
          expect(hex(decompress(compressed, plain.length)!)).toBe(hex(plain))
          const short = decompress(compressed, plain.length - 50)
          expect(short === undefined || short.length === plain.length - 50).toBe(true)
          expect(decompress(compressed.subarray(0, 3), plain.length)?.length).not.toBe(plain.length)
        }
      }),
    )
  })

  it('of damaged bytes ends, and gives no more than requested', () => {
    const plain = Buffer.from('0x1::coin::deposit'.repeat(500))
    const compressed = zlib.zstdCompressSync(plain, { pledgedSrcSize: plain.length })
    fc.assert(
      fc.property(fc.nat(compressed.length - 1), fc.integer({ min: 1, max: 255 }), (at, change) => {
        const damaged = Uint8Array.from(compressed)
        damaged[at] = damaged[at]! ^ change
        expect(decompress(damaged, plain.length)?.length ?? 0).toBeLessThanOrEqual(plain.length)
      }),
      { numRuns: 500 },
    )
  })
})

describe('the indexes of a group', () => {
  it('have each version of a key once: senders, and addresses and tables that were written', async () => {
    const sender = new Uint8Array(32).fill(9)
    const [parts] = fc.sample(wholes, { numRuns: 1, seed: 5 })
    const sent = (number: bigint) =>
      new ByteWriter().u8(0).bytes(sender).u64(number).bytes(new Uint8Array(40)).toBytes()
    const table = new Uint8Array(32).fill(7)
    const group = new TransactionGroup(10n)
    const writes = [
      [resourceKey(sender, TAG), Uint8Array.of(1)],
      [resourceKey(sender, parseStructTag('0x1::m::S')), Uint8Array.of(1)],
      [tableItemKey(table, Uint8Array.of(1)), null],
    ] as const
    group.add(10n, wholeOf(10n, { ...parts!, transaction: sent(4n) }), writes)
    group.add(11n, wholeOf(11n, parts!), writes.slice(2))
    group.add(12n, wholeOf(12n, { ...parts!, transaction: sent(5n) }), [])
    const made = new Map(
      group
        .toWrites()
        .writes.get(10n)!
        .map(([key, value]) => [hex(key), value!]),
    )
    const found = (key: Uint8Array, hasNumbers: boolean) =>
      decodeGroupedVersions(made.get(hex(key))!, hasNumbers).versions
    expect(found(sequenceNumberKey(sender), true)).toEqual([
      { version: 10n, number: 4n },
      { version: 12n, number: 5n },
    ])
    expect(found(affectedAccountKey(sender), false)).toEqual([{ version: 10n, number: 0n }])
    expect(found(affectedAccountKey(table), false).map(({ version }) => version)).toEqual([10n, 11n])
    expect(made.has(hex(nonceKey(sender)))).toBe(false)
  })

  it('are read as they were written, with any numbers', () => {
    const list = fc.uniqueArray(fc.tuple(fc.nat(10_000), fc.bigInt(0n, 2n ** 64n - 1n)), {
      selector: ([at]) => at,
      minLength: 1,
    })
    fc.assert(
      fc.property(list, fc.bigInt(0n, 2n ** 60n), fc.boolean(), (items, first, hasNumbers) => {
        const sorted = items.sort(([a], [b]) => a - b)
        const offsets = sorted.map(([at]) => at)
        const numbers = hasNumbers ? sorted.map(([, number]) => number) : undefined
        const versions = sorted.map(([at, number]) => ({
          version: first + BigInt(at),
          number: hasNumbers ? number : 0n,
        }))
        const row = encodeGroupedVersions(first, { offsets, numbers })
        expect(decodeGroupedVersions(row, hasNumbers)).toEqual({ group: first, versions })
      }),
    )
  })
})
