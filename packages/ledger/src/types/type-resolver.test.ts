import { parseAddress } from '@ledger-state/core'
import type { StateView } from '@ledger-state/engine'
import { ABILITY, type FieldDefinition, type MoveModule, writeModule } from '@ledger-state/move-module'
import { moduleKey, parseStructTag, parseTypeTag, structTagToBytes } from '@ledger-state/type-tag'
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
    const structOf = (at: number) => ({ S: [...fields, { name: `of_m${at}`, type: { kind: 'u8' } as const }] })
    const view = await viewOf(Array.from({ length: 50 }, (_, at) => moduleOf(`m${at}`, structOf(at))))
    const modules = new ModuleCache()
    const types = new CachedTypeResolver(modules)
    for (let at = 0; at < 400; at++) {
      types.resolve(parseTypeTag(`${'vector<'.repeat(at % 8)}0xcafe::m${at % 50}::S${'>'.repeat(at % 8)}`), view)
      expect(types.size).toBeLessThanOrEqual(16 << 20)
      expect(modules.size).toBeLessThanOrEqual(16 << 20)
    }
    // The cache still holds half of the codecs that it has room for: it was not emptied on the way.
    expect(types.size).toBeGreaterThan(4 << 20)
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

  it('keeps one codec for types of one layout, so that it has room for the types of thousands of coins', async () => {
    const layers = fieldsOf(12, { kind: 'u64' })
    const coin: MoveModule = {
      ...moduleOf('coin', {}),
      structs: [
        {
          kind: 'struct',
          name: 'Store',
          abilities: ABILITY.store,
          typeParameters: [{ constraints: 0, phantom: true }],
          fields: layers,
        },
      ],
    }
    const names = Array.from({ length: 1_600 }, (_, at) => `Coin${at}`)
    const empty = Object.fromEntries(names.map((name) => [name, fieldsOf(1, { kind: 'bool' })]))
    const view = await viewOf([coin, moduleOf('coins', empty)])
    const types = new CachedTypeResolver(new ModuleCache())
    const resolve = (name: string) => types.resolve(parseTypeTag(`0xcafe::coin::Store<0xcafe::coins::${name}>`), view)
    const codecs = new Set(names.map(resolve))
    expect(codecs.size).toBe(1)
    const { misses } = types.use
    expect(new Set(names.map(resolve))).toEqual(codecs)
    expect(types.use.misses).toBe(misses)
  })

  it('finds the codec of a struct by the bytes of its tag', async () => {
    const view = await viewOf([moduleOf('m', { A: fieldsOf(2, { kind: 'u8' }), B: fieldsOf(3, { kind: 'u8' }) })])
    for (const isFirst of [true, false]) {
      const types = new CachedTypeResolver(new ModuleCache())
      for (const name of ['A', 'B']) {
        const tag = parseStructTag(`0xcafe::m::${name}`)
        const byTag = () => types.resolve(tag, view)
        const byBytes = () => types.resolveStruct(structTagToBytes(tag), view)
        const [one, other] = isFirst ? [byTag(), byBytes()] : [byBytes(), byTag()]
        expect(one).toBe(other)
        expect(one.layout).toMatchObject({ kind: 'struct', name })
      }
      expect(() => types.resolveStruct(structTagToBytes(parseStructTag('0xcafe::m::C')), view)).toThrow(
        expect.objectContaining({ code: 'struct_not_found' }),
      )
    }
  })

  it('keeps no codec of a long layout for another type, nor for the type after its module changed', async () => {
    const long = (kind: 'u8' | 'u16') => moduleOf('m', { S: fieldsOf(200, { kind }), T: fieldsOf(200, { kind }) })
    const engine = await engineOf([[moduleKey(HOME, 'm'), writeModule(long('u8'))]])
    const before = engine.at()
    const version = before.ledger.latestVersion + 1n
    const writes = [[moduleKey(HOME, 'm'), writeModule(long('u16'))] as const]
    await engine.commit([{ version, block: { height: version, epoch: 0n, timestampUsec: version }, writes }], {
      chainId: before.ledger.chainId,
    })
    const types = new CachedTypeResolver(new ModuleCache())
    const lengthOf = (name: string, view: StateView) =>
      types.resolve(parseTypeTag(`0xcafe::m::${name}`), view).bytesToJson(new Uint8Array(view === before ? 200 : 400))
        .length
    for (let round = 0; round < 3; round++) {
      for (const view of [before, engine.at()]) expect(lengthOf('S', view)).toBe(lengthOf('T', view))
    }
  })

  it('keeps the codec of a long layout that is asked for again, while others fill the cache', async () => {
    const long = (name: string) => [...fieldsOf(200, { kind: 'u8' }), { name, type: { kind: 'u8' } as const }]
    const structs = Object.fromEntries(Array.from({ length: 60 }, (_, at) => [`S${at}`, long(`of_s${at}`)]))
    const view = await viewOf([moduleOf('m', structs)])
    const types = new CachedTypeResolver(new ModuleCache())
    const resolve = (name: string) => types.resolve(parseTypeTag(`0xcafe::m::${name}`), view)
    for (const name of Object.keys(structs)) resolve(name)
    for (let turn = 0; turn < 3; turn++) resolve('S59')
    expect(resolve('S59')).toBe(resolve('S59'))
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
