import { atOnce, ByteWriter, parseAddress } from '@ledger-state/core'
import { compareBytes } from '@ledger-state/core/bytes'
import { createMemoryEngine } from '@ledger-state/engine'
import { writeModule } from '@ledger-state/move-module'
import { LedgerHasher } from '@ledger-state/proof'
import { moduleKey, parseStructTag, resourceGroupKey, writeStructTag } from '@ledger-state/type-tag'
import { expect, it } from 'vitest'
import { ModuleCache } from '../../caches/module-cache.js'
import { ModuleInterfaces } from '../../caches/module-interfaces.js'
import { CachedTypeResolver } from '../../types/type-resolver.js'
import { changesToJson } from './changes.js'

const OWNER = parseAddress('0xcafe')
const TYPES = ['u8', 'u16', 'u32', 'u64', 'u128', 'u256', 'bool', 'address']

/** A group with a member for each pair of primitive types. */
function group(): Uint8Array {
  const tags = TYPES.flatMap((a) => TYPES.map((b) => parseStructTag(`0xcafe::a::A<${a}, ${b}>`))).map((tag) => {
    const writer = new ByteWriter()
    writeStructTag(writer, tag)
    return writer.toBytes()
  })
  const writer = new ByteWriter().uleb128(tags.length)
  for (const tag of tags.sort(compareBytes)) writer.bytes(tag).uleb128(1).u8(1)
  return writer.toBytes()
}

it('the changes of a transaction that writes a long group are made in steps, one for each member', async () => {
  const module = writeModule({
    version: 7,
    address: OWNER,
    name: 'a',
    structs: [
      {
        kind: 'struct',
        name: 'A',
        abilities: 12,
        typeParameters: [
          { constraints: 0, isPhantom: true },
          { constraints: 0, isPhantom: true },
        ],
        fields: [{ name: 'x', type: { kind: 'bool' } }],
      },
    ],
  } as never)
  const engine = createMemoryEngine()
  const block = { height: 0n, epoch: 0n, timestampUsec: 0n }
  await engine.commit([{ version: 0n, block, writes: [[moduleKey(OWNER, 'a'), module]] }], { chainId: 4 })
  const modules = new ModuleCache()
  const types = new CachedTypeResolver(modules)
  const context = {
    view: engine.at(0n),
    types,
    modules,
    interfaces: new ModuleInterfaces(),
    hasher: new LedgerHasher(),
  }
  const key = resourceGroupKey(OWNER, parseStructTag('0x1::object::ObjectGroup'))
  const writeSet = new ByteWriter().u8(0).uleb128(1).bytes(key).u8(1).byteString(group()).toBytes()
  const steps = changesToJson(context, writeSet)
  let count = 0
  let step = steps.next()
  for (; !step.done; step = steps.next()) count++
  expect(count).toBeGreaterThanOrEqual(TYPES.length ** 2)
  expect(JSON.parse(step.value)).toHaveLength(TYPES.length ** 2)
  expect(atOnce(changesToJson(context, writeSet))).toBe(step.value)
})
