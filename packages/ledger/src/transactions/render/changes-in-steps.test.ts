// Changes of a transaction that wrote much are made in steps.
import { atOnce, ByteWriter, parseAddress, type Write } from '@ledger-state/core'
import { compareBytes } from '@ledger-state/core/bytes'
import { createMemoryEngine } from '@ledger-state/engine'
import { type SignatureToken, writeModule } from '@ledger-state/move-module'
import { LedgerHasher } from '@ledger-state/proof'
import { moduleKey, parseStructTag, resourceGroupKey, tableItemKey, writeStructTag } from '@ledger-state/type-tag'
import { beforeAll, expect, it } from 'vitest'
import { ModuleCache } from '../../caches/module-cache.js'
import { ModuleInterfaces } from '../../caches/module-interfaces.js'
import { CachedTypeResolver } from '../../types/type-resolver.js'
import { changesToJson } from './changes.js'
import type { RenderContext } from './render-context.js'
import { WrittenTables } from './written-tables.js'

const OWNER = parseAddress('0xcafe')
const HANDLE = parseAddress('0x7ab1e')
const TYPES = ['u8', 'u16', 'u32', 'u64', 'u128', 'u256', 'bool', 'address']
const MEMBERS = TYPES.flatMap((a) => TYPES.map((b) => `0xcafe::a::A<${a}, ${b}>`))
const GROUP_KEY = resourceGroupKey(OWNER, parseStructTag('0x1::object::ObjectGroup'))

/** A group with members, each with its bytes. */
function group(members: readonly (readonly [type: string, bytes: Uint8Array])[]): Uint8Array {
  const tags = members.map(([type, bytes]) => {
    const writer = new ByteWriter()
    writeStructTag(writer, parseStructTag(type))
    return { tag: writer.toBytes(), bytes }
  })
  const writer = new ByteWriter().uleb128(tags.length)
  for (const { tag, bytes } of tags.sort((a, b) => compareBytes(a.tag, b.tag))) writer.bytes(tag).byteString(bytes)
  return writer.toBytes()
}

const ONES = MEMBERS.map((type) => [type, Uint8Array.of(1)] as const)

let context: RenderContext
beforeAll(async () => {
  const U64: SignatureToken = { kind: 'u64' }
  const struct = { kind: 'struct', abilities: 12 } as const
  const phantom = { constraints: 0, phantom: true }
  const table: SignatureToken = {
    kind: 'struct',
    module: { address: parseAddress('0x1'), name: 'table' },
    name: 'Table',
    typeArguments: [U64, U64],
  }
  const modules = [
    writeModule({
      version: 7,
      address: OWNER,
      name: 'a',
      structs: [
        { ...struct, name: 'A', typeParameters: [phantom, phantom], fields: [{ name: 'x', type: { kind: 'bool' } }] },
        { ...struct, name: 'Shop', typeParameters: [], fields: [{ name: 'items', type: table }] },
      ],
    }),
    writeModule({
      version: 7,
      address: parseAddress('0x1'),
      name: 'table',
      structs: [
        {
          ...struct,
          name: 'Table',
          typeParameters: [phantom, phantom],
          fields: [{ name: 'handle', type: { kind: 'address' } }],
        },
      ],
    }),
  ]
  const engine = createMemoryEngine()
  const block = { height: 0n, epoch: 0n, timestampUsec: 0n }
  const writes: Write[] = [
    [moduleKey(OWNER, 'a'), modules[0]!],
    [moduleKey(parseAddress('0x1'), 'table'), modules[1]!],
  ]
  await engine.commit([{ version: 0n, block, writes }], { chainId: 4 })
  const cache = new ModuleCache()
  context = {
    view: engine.at(0n),
    types: new CachedTypeResolver(cache),
    modules: cache,
    interfaces: new ModuleInterfaces(),
    hasher: new LedgerHasher(),
  }
})

function writeSetOf(writes: readonly (readonly [key: Uint8Array, value: Uint8Array])[]): Uint8Array {
  const set = new ByteWriter().u8(0).uleb128(writes.length)
  for (const [key, value] of writes) writeStateKey(set, key).u8(1).byteString(value)
  return set.toBytes()
}

/** Writes a key with the length of the key of a table item. */
function writeStateKey(writer: ByteWriter, key: Uint8Array): ByteWriter {
  const isItem = key[0] === 1
  return isItem ? writer.bytes(key.subarray(0, 33)).byteString(key.subarray(33)) : writer.bytes(key)
}

const u64 = (value: number): Uint8Array => new ByteWriter().u64(BigInt(value)).toBytes()

function countSteps<T>(steps: Generator<undefined, T>): { readonly count: number; readonly value: T } {
  let count = 0
  let step = steps.next()
  for (; !step.done; step = steps.next()) count++
  return { count, value: step.value }
}

it('the changes of a transaction that writes a long group are made in steps, one for each member', () => {
  const writeSet = writeSetOf([[GROUP_KEY, group(ONES)]])
  const { count, value } = countSteps(changesToJson(context, writeSet))
  expect(count).toBeGreaterThanOrEqual(MEMBERS.length)
  expect(JSON.parse(value)).toHaveLength(MEMBERS.length)
  expect(atOnce(changesToJson(context, writeSet))).toBe(value)
})

it('the changes of a transaction that writes many table items are made in steps, one for each item', () => {
  const items = Array.from({ length: 500 }, (_, at) => [tableItemKey(HANDLE, u64(at)), u64(at)] as const)
  const { count, value } = countSteps(changesToJson(context, writeSetOf(items)))
  expect(count).toBeGreaterThanOrEqual(items.length)
  expect(JSON.parse(value)).toHaveLength(items.length)
})

it('the types of tables are found in a long group in steps, one for each member', () => {
  const members = [...ONES, ['0xcafe::a::Shop', HANDLE] as const]
  const tables = new WrittenTables(context, [
    { key: GROUP_KEY, value: group(members) },
    { key: tableItemKey(HANDLE, u64(1)), value: u64(1) },
  ])
  const { count, value } = countSteps(tables.typesOf(HANDLE))
  expect(value).toMatchObject({ keyType: { kind: 'u64' }, valueType: { kind: 'u64' } })
  expect(count).toBeGreaterThanOrEqual(members.length)
  expect(countSteps(tables.typesOf(HANDLE))).toEqual({ count: 0, value })
})
