// Packed writes, and the tables that are made of them.

import { parseAddress } from '@ledger-state/core'
import { createMemoryEngine } from '@ledger-state/engine'
import { createLedger } from '@ledger-state/ledger'
import { ABILITY, writeModule } from '@ledger-state/move-module'
import { createRandom, testSeed } from '@ledger-state/testing/random'
import { moduleKey, parseStructTag, resourceKey } from '@ledger-state/type-tag'
import { describe, expect, it } from 'vitest'
import { ByteArena } from './byte-arena.js'
import { TableRows } from './table-rows.js'
import { BYTES_OF_GROUP } from './tables.js'
import { WritePacker } from './write-packer.js'
import { WriteReader } from './write-reader.js'
import { WriteRows } from './write-rows.js'
import { WrittenKeys } from './written-keys.js'

const itemKey = (handle: number, item: number) => Uint8Array.of(1, ...new Uint8Array(32).fill(handle), item >> 8, item)

it(`packed writes are read as they were added (TEST_SEED=${testSeed()})`, () => {
  const random = createRandom(testSeed())
  const packer = new WritePacker(7n)
  const added: unknown[] = []
  const keys = Array.from({ length: 20 }, () => random.bytes(random.below(80)))
  const lastValues = new Map<Uint8Array, Uint8Array>()
  const newValue = () => random.bytes(random.below(30) === 0 ? 300_000 : random.below(50))
  /** The last value of a key with a few other bytes, or another value. */
  const nextValue = (key: Uint8Array) => {
    const last = lastValues.get(key)
    if (!last || random.below(4) === 0) return newValue()
    const value = Uint8Array.from(last)
    for (let left = random.below(4); left > 0 && value.length > 0; left--) {
      value[random.below(value.length)] = random.below(256)
    }
    return value
  }
  for (let version = 7n; version < 207n; version++) {
    packer.beginVersion(version * 10n)
    for (let left = random.below(4); left > 0; left--) {
      const key = keys[random.below(keys.length)]!
      const value = random.below(5) === 0 ? null : nextValue(key)
      if (value) lastValues.set(key, value)
      packer.add({ key, value })
      added.push({ version, time: version * 10n, key: Buffer.from(key), value: value && Buffer.from(value) })
    }
  }
  const packed = packer.take()
  const reader = new WriteReader(packed)
  const arena = new ByteArena()
  const read = Array.from({ length: reader.count }, (_, write) => {
    const [version, time, key] = [reader.version(write), reader.time(write), reader.key(reader.keyOf(write))]
    const value = reader.value(write, arena)
    return { version, time, key: Buffer.from(key), value: value && Buffer.from(value) }
  })
  expect(read).toEqual(added)
})

it('a write that changes little of a large value takes few bytes', () => {
  const packer = new WritePacker(0n)
  const size = 3 << 19
  for (let version = 0; version < 100; version++) {
    packer.beginVersion(0n)
    const value = new Uint8Array(size)
    value[version] = 1
    packer.add({ key: itemKey(1, 1), value })
  }
  expect(packer.bytes).toBeLessThan(size + 10_000)
  const reader = new WriteReader(packer.take())
  const arena = new ByteArena()
  const found = Array.from({ length: 100 }, (_, write) => reader.value(write, arena)!.indexOf(1))
  expect(found).toEqual(Array.from({ length: 100 }, (_, version) => version))
})

describe('row groups', () => {
  const LARGE = 1 << 20

  it('of writes end after some bytes', async () => {
    const engine = createMemoryEngine()
    const block = { height: 0n, epoch: 0n, timestampUsec: 0n }
    await engine.commit([{ version: 1n, block, writes: [] }], { chainId: 1 })
    const packer = new WritePacker(1n)
    packer.beginVersion(0n)
    const value = new Uint8Array(LARGE)
    for (let item = 0; item < 70; item++) packer.add({ key: itemKey(1, item), value })
    const writes = new WriteReader(packer.take())
    const groups = new WriteRows(createLedger(engine), writes, new WrittenKeys(writes)).toRowGroups()
    const sizes = Array.from(groups, (columns) => columns.find(({ name }) => name === 'value')!.data.length)
    expect(sizes).toEqual([32, 32, 6])
  })

  it('of other tables end after some bytes', () => {
    const rows = new TableRows('events')
    const data = 'x'.repeat(LARGE)
    const group = rows.groupOf('0x1::a::B', () => ['0x1::a::B'])
    for (let event = 0n; event < 70n; event++) rows.add(group, 1n, 0n, event, data)
    const sizes = Array.from(rows.toRowGroups(), (columns) => columns[0]!.data.length)
    expect(sizes.every((rows) => rows * LARGE <= BYTES_OF_GROUP + LARGE)).toBe(true)
    expect(sizes.reduce((sum, rows) => sum + rows, 0)).toBe(70)
  })
})

it('rows that the order does not tell apart are sorted by version', () => {
  const rows = new TableRows('balances')
  for (const [storage, versions] of [
    ['0x1', [1n, 4n]],
    ['0x2', [2n, 3n]],
  ] as const) {
    const group = rows.groupOf(storage, () => ['0xa', '0xb', storage])
    for (const version of versions) rows.add(group, version, 10n * version, 0n, 2n ** 64n - version)
  }
  const [columns] = rows.toRowGroups()
  const cells = Object.fromEntries(columns!.map(({ name, data }) => [name, [...data]]))
  expect(cells).toEqual({
    version: [1n, 2n, 3n, 4n],
    timestamp: [10n, 20n, 30n, 40n],
    owner: ['0xa', '0xa', '0xa', '0xa'],
    asset: ['0xb', '0xb', '0xb', '0xb'],
    storage: ['0x1', '0x2', '0x2', '0x1'],
    before: [0n, 0n, 0n, 0n],
    after: [1n, 2n, 3n, 4n].map((version) => 2n ** 64n - version),
  })
})

it('writes are sorted by address, type and version, whatever their order in a version', () => {
  const packer = new WritePacker(1n)
  const resource = (address: number, type: string) =>
    resourceKey(new Uint8Array(32).fill(address), parseStructTag(`0x1::m::${type}`))
  for (let version = 0; version < 3; version++) {
    packer.beginVersion(0n)
    for (const key of [itemKey(5, 2), resource(9, 'A'), itemKey(5, 1), resource(3, 'B'), resource(3, 'A')]) {
      packer.add({ key, value: Uint8Array.of(version) })
    }
  }
  const reader = new WriteReader(packer.take())
  const keys = new WrittenKeys(reader)
  const rows = Array.from(keys.sorted(), (write) => {
    const { address, type } = keys.groupOf(write)
    return `${address!.substring(64)} ${type.text?.at(-1) ?? '-'} ${reader.version(write)}`
  })
  expect(rows).toEqual([
    ...['03 A 1', '03 A 2', '03 A 3', '03 B 1', '03 B 2', '03 B 3'],
    ...['05 - 1', '05 - 1', '05 - 2', '05 - 2', '05 - 3', '05 - 3', '09 A 1', '09 A 2', '09 A 3'],
  ])
})

it('values are decoded with the modules of their versions, if modules change within a range', async () => {
  const home = parseAddress('0xcafe')
  const moduleWith = (field: string) =>
    writeModule({
      version: 7,
      address: home,
      name: 'm',
      structs: [
        {
          kind: 'struct',
          name: 'S',
          abilities: ABILITY.key,
          typeParameters: [],
          fields: [{ name: field, type: { kind: 'u8' } }],
        },
      ],
    })
  const key = resourceKey(home, parseStructTag('0xcafe::m::S'))
  const code = moduleKey(home, 'm')
  const engine = createMemoryEngine()
  const packer = new WritePacker(0n)
  // Before the module, with it, and in the versions of two upgrades and after them.
  const codes = [undefined, 'a', undefined, 'b', undefined, 'c', undefined]
  for (const [version, field] of codes.entries()) {
    const writes: [Uint8Array, Uint8Array][] = [[key, Uint8Array.of(version)]]
    if (field !== undefined) writes.push([code, moduleWith(field)])
    const block = { height: BigInt(version), epoch: 0n, timestampUsec: BigInt(version) }
    await engine.commit([{ version: BigInt(version), block, writes }], { chainId: 1 })
    packer.beginVersion(0n)
    for (const [key, value] of writes) packer.add({ key, value })
  }
  const reader = new WriteReader(packer.take())
  const [columns] = new WriteRows(createLedger(engine), reader, new WrittenKeys(reader)).toRowGroups()
  const texts = columns!.find(({ name }) => name === 'json')!.data as (Buffer | undefined)[]
  const found = texts.filter((text) => text !== undefined).map(String)
  expect(found).toEqual(['{"a":1}', '{"a":2}', '{"b":3}', '{"b":4}', '{"c":5}', '{"c":6}'])
})
