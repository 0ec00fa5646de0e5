import { parseAddress } from '@ledger-state/core'
import type { StateView } from '@ledger-state/engine'
import { ABILITY, type FieldDefinition, type MoveModule, writeModule } from '@ledger-state/move-module'
import { moduleKey, parseTypeTag } from '@ledger-state/type-tag'
import { describe, expect, it } from 'vitest'
import { engineOf } from '../../testing/engine-of.ts'
import { ModuleCache } from '../caches/module-cache.js'
import { CachedTypeResolver } from './type-resolver.js'

const HOME = parseAddress('0xcafe')

async function viewOf(modules: readonly MoveModule[]): Promise<StateView> {
  const engine = await engineOf(modules.map((module) => [moduleKey(HOME, module.name), writeModule(module)]))
  return engine.at()
}

function moduleOf(name: string, structs: Readonly<Record<string, readonly FieldDefinition[]>>): MoveModule {
  return {
    version: 7,
    address: HOME,
    name,
    structs: Object.entries(structs).map(([struct, fields]) => ({
      kind: 'struct',
      name: struct,
      abilities: ABILITY.store,
      typeParameters: [],
      fields,
    })),
  }
}

function fieldsOf(count: number, type: FieldDefinition['type']): FieldDefinition[] {
  return Array.from({ length: count }, (_, at) => ({ name: `f${at}`, type }))
}

describe('CachedTypeResolver', () => {
  it('holds at most 16 MiB, and so do its modules, however many are asked for', async () => {
    const fields = fieldsOf(200, { kind: 'u8' })
    const view = await viewOf(Array.from({ length: 50 }, (_, at) => moduleOf(`m${at}`, { S: fields })))
    const modules = new ModuleCache()
    const types = new CachedTypeResolver(modules)
    for (let at = 0; at < 400; at++) {
      types.resolve(parseTypeTag(`${'vector<'.repeat(at % 8)}0xcafe::m${at % 50}::S${'>'.repeat(at % 8)}`), view)
      expect(types.size).toBeLessThanOrEqual(16 << 20)
      expect(modules.size).toBeLessThanOrEqual(16 << 20)
    }
    // The cache still holds much: it was not emptied on the way.
    expect(types.size).toBeGreaterThan(8 << 20)
  })

  it('keeps a codec, but none that would take a sixteenth of the cache', async () => {
    const partOf = (name: string): FieldDefinition => ({
      name,
      type: { kind: 'struct', module: { address: HOME, name: 'm' }, name, typeArguments: [] },
    })
    const names = ['Part', 'P2', 'P3', 'P4', 'P5', 'P6', 'P7', 'P8']
    const parts = Object.fromEntries(names.map((name) => [name, fieldsOf(200, { kind: 'u8' })]))
    const module = moduleOf('m', { ...parts, Whole: names.map(partOf) })
    const view = await viewOf([module])
    const types = new CachedTypeResolver(new ModuleCache())
    const resolve = (text: string) => types.resolve(parseTypeTag(text), view)
    expect(resolve('0xcafe::m::Part')).toBe(resolve('0xcafe::m::Part'))
    expect(resolve('0xcafe::m::Whole')).not.toBe(resolve('0xcafe::m::Whole'))
  })

  it('keeps no type that names more than 64 types, except the last one', async () => {
    const pair = { kind: 'struct', name: 'Pair', abilities: ABILITY.store, fields: [] as FieldDefinition[] } as const
    const parameter = { constraints: 0, phantom: true }
    const module: MoveModule = {
      version: 7,
      address: HOME,
      name: 'm',
      structs: [{ ...pair, typeParameters: [parameter, parameter] }],
    }
    const view = await viewOf([module])
    const tree = (depth: number, leaf: string): string =>
      depth === 0 ? leaf : `0xcafe::m::Pair<${tree(depth - 1, leaf)},${tree(depth - 1, leaf)}>`
    const types = new CachedTypeResolver(new ModuleCache())
    const [large, other] = [parseTypeTag(tree(6, 'u8')), parseTypeTag(tree(6, 'u16'))]
    const codec = types.resolve(large, view)
    expect(types.resolve(large, view)).toBe(codec)
    types.resolve(other, view)
    expect(types.resolve(large, view)).not.toBe(codec)
    expect(types.size).toBe(0)
    types.resolve(parseTypeTag(tree(5, 'u8')), view)
    expect(types.size).toBeGreaterThan(0)
  })

  it('leaves nothing of a type that cannot be resolved', async () => {
    const types = new CachedTypeResolver(new ModuleCache())
    const view = await viewOf([])
    expect(() => types.resolve(parseTypeTag('0xcafe::m::S'), view)).toThrow(
      expect.objectContaining({ code: 'module_not_found' }),
    )
    expect(types.size).toBe(0)
  })
})
