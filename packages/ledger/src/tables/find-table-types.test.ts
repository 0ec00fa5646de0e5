import { ByteReader, ByteWriter, bytesToHex, isLedgerStateError, parseAddress, type Write } from '@ledger-state/core'
import { createMemoryEngine } from '@ledger-state/engine'
import { openSource } from '@ledger-state/feed'
import {
  ABILITY,
  type SignatureToken,
  type StructDefinition,
  ValueWalker,
  writeModule,
} from '@ledger-state/move-module'
import { hasSharedData, sharedPath } from '@ledger-state/testing/shared-data'
import {
  decodeStateKey,
  moduleKey,
  parseStructTag,
  resourceKey,
  tableItemKey,
  typeTagToText,
} from '@ledger-state/type-tag'
import { beforeAll, describe, expect, it } from 'vitest'
import { engineOf } from '../../testing/engine-of.ts'
import { resultOf } from '../../testing/result-of.ts'
import { ModuleCache } from '../caches/module-cache.js'
import {
  type FoundTableTypes,
  findTableTypes,
  type LedgerState,
  listResources,
  listTableItems,
  type Resource,
  readResource,
} from '../index.js'
import { createLedger } from '../state/create-ledger.js'

/** JSON of a resource; undefined if the stored bytes do not fit their type. */
function jsonOf(resource: Resource): string | undefined {
  try {
    return resource.toJson()
  } catch (error) {
    if (isLedgerStateError(error)) return undefined
    throw error
  }
}

describe
  .skipIf(!hasSharedData)
  .each([
    'data/genesis/mainnet.genesis.blob',
    'data/genesis/devnet.genesis.blob',
    'conformance/account-fixture.ndjson.gz',
  ])('types of tables in %s', (file) => {
  const engine = createMemoryEngine()
  let state: LedgerState

  beforeAll(async () => {
    const source = await openSource(sharedPath(file))
    for await (const record of source.versions()) await engine.commit([record], { chainId: source.chainId! })
    state = createLedger(engine).at()
  })

  /** Owners of resources, and their resources. */
  const owners = () => {
    const found = new Set<string>()
    for (const { key } of engine.at().scan(new Uint8Array(0))) {
      const decoded = decodeStateKey(key)
      if ('address' in decoded) found.add(bytesToHex(decoded.address))
    }
    return [...found].map((text) => parseAddress(text))
  }

  it('are searched for in every place of every resource: every printable value is walked through to its last byte', () => {
    const modules = new ModuleCache()
    for (const owner of owners()) {
      for (const resource of listResources(state, owner)) {
        const json = jsonOf(resource)
        if (json === undefined || json.includes('__fun_name__')) continue
        const reader = new ByteReader(resource.bytes)
        const outcome = new ValueWalker(
          (id) => modules.find(engine.at(), id)?.read(),
          () => false,
        ).walk(resource.tag, reader)
        expect([resource.typeText(), outcome, reader.remaining]).toEqual([resource.typeText(), 'passed', 0])
      }
    }
  })

  it('decode the keys and values of the table', () => {
    const holders = owners()
    const handles = new Set<string>()
    for (const { key } of engine.at().scan(new Uint8Array(0))) {
      const decoded = decodeStateKey(key)
      if (decoded.kind === 'tableItem') handles.add(bytesToHex(decoded.handle))
    }
    let found = 0
    for (const text of handles) {
      const handle = parseAddress(text)
      for (const holder of holders) {
        const types = resultOf(findTableTypes(state, handle, holder))
        if (!types) continue
        found++
        if (!types.foundInItem) {
          expect(readResource(state, holder, types.foundIn).toJson()).toContain(`"0x${text.replace(/^0x0*/, '')}"`)
        }
        for (const { key, value } of listTableItems(state, handle, types)) {
          expect([typeTagToText(types.keyType), key!.toJson()]).not.toContain('')
          expect(() => value!.toJson()).not.toThrow()
        }
        break
      }
    }
    if (handles.size > 0 && file.includes('genesis')) expect(found).toBeGreaterThan(0)
  })
})

describe('the types of a table in an item of another table', () => {
  const HOME = parseAddress('0xcafe')
  const FRAMEWORK = parseAddress('0x1')
  const parameter = (index: number): SignatureToken => ({ kind: 'typeParameter', index })
  const tableOf = (key: SignatureToken, value: SignatureToken): SignatureToken => {
    return { kind: 'struct', module: { address: FRAMEWORK, name: 'table' }, name: 'Table', typeArguments: [key, value] }
  }
  const own = (name: string, ...typeArguments: SignatureToken[]): SignatureToken => {
    return { kind: 'struct', module: { address: HOME, name: 'm' }, name, typeArguments }
  }
  const fields = (...types: SignatureToken[]) => types.map((type, at) => ({ name: `f${at}`, type }))
  const open = { constraints: 0, phantom: false }
  const shared = { abilities: ABILITY.store | ABILITY.key, typeParameters: [] }
  const TABLE: StructDefinition = {
    ...shared,
    kind: 'struct',
    name: 'Table',
    typeParameters: [open, open],
    fields: fields({ kind: 'address' }),
  }
  const STRUCTS: readonly StructDefinition[] = [
    { ...shared, kind: 'struct', name: 'Root', fields: fields({ kind: 'u8' }, tableOf({ kind: 'u8' }, own('Choice'))) },
    {
      ...shared,
      kind: 'enum',
      name: 'Choice',
      variants: [
        { name: 'Nothing', fields: [] },
        {
          name: 'Tables',
          fields: fields({ kind: 'vector', element: own('Box', tableOf({ kind: 'u64' }, own('Leaf'))) }),
        },
      ],
    },
    { ...shared, kind: 'struct', name: 'Box', typeParameters: [open], fields: fields({ kind: 'bool' }, parameter(0)) },
    { ...shared, kind: 'struct', name: 'Leaf', fields: fields(tableOf({ kind: 'bool' }, { kind: 'u128' })) },
  ]
  const [OUTER, MIDDLE, INNER] = ['0x101', '0x102', '0x103'].map((text) => parseAddress(text)) as [
    Uint8Array,
    Uint8Array,
    Uint8Array,
  ]
  const boxes = (...handles: readonly Uint8Array[]): Uint8Array => {
    const writer = new ByteWriter().uleb128(1).uleb128(handles.length)
    for (const handle of handles) writer.bool(true).bytes(handle)
    return writer.toBytes()
  }

  async function stateOf(...items: readonly Write[]): Promise<LedgerState> {
    const modules: Write[] = [
      [moduleKey(FRAMEWORK, 'table'), writeModule({ version: 7, address: FRAMEWORK, name: 'table', structs: [TABLE] })],
      [moduleKey(HOME, 'm'), writeModule({ version: 7, address: HOME, name: 'm', structs: STRUCTS })],
    ]
    const root: Write = [
      resourceKey(HOME, parseStructTag('0xcafe::m::Root')),
      new ByteWriter().u8(9).bytes(OUTER).toBytes(),
    ]
    return createLedger(await engineOf([...modules, root, ...items])).at()
  }
  const item = (handle: Uint8Array, key: Uint8Array, value: Uint8Array): Write => [tableItemKey(handle, key), value]
  const texts = (found: FoundTableTypes | undefined) =>
    found && {
      types: [typeTagToText(found.keyType), typeTagToText(found.valueType), typeTagToText(found.foundIn)],
      item: found.foundInItem && [bytesToHex(found.foundInItem.handle), bytesToHex(found.foundInItem.key)],
    }
  const hex = (bytes: Uint8Array) => bytesToHex(bytes)

  it('are found through enums, vectors and generic structs, at any depth', async () => {
    const state = await stateOf(
      item(OUTER, Uint8Array.of(3), Uint8Array.of(0)),
      item(OUTER, Uint8Array.of(4), boxes(parseAddress('0x999'), MIDDLE)),
      item(MIDDLE, new Uint8Array(8), INNER),
    )
    const find = (handle: Uint8Array) => texts(resultOf(findTableTypes(state, handle, HOME)))
    expect(find(OUTER)).toEqual({ types: ['u8', '0xcafe::m::Choice', '0xcafe::m::Root'], item: undefined })
    expect(find(MIDDLE)).toEqual({ types: ['u64', '0xcafe::m::Leaf', '0xcafe::m::Root'], item: [hex(OUTER), '0x04'] })
    expect(find(INNER)).toEqual({
      types: ['bool', 'u128', '0xcafe::m::Root'],
      item: [hex(MIDDLE), hex(new Uint8Array(8))],
    })
    expect(find(parseAddress('0x998'))).toBeUndefined()
  })

  it('are not found if tables hold each other, or items are not of their type, and the search ends', async () => {
    const state = await stateOf(
      item(OUTER, Uint8Array.of(1), boxes(OUTER, MIDDLE)),
      item(OUTER, Uint8Array.of(2), Uint8Array.of(7, 7)),
      item(MIDDLE, new Uint8Array(8), OUTER),
    )
    expect(resultOf(findTableTypes(state, INNER, HOME))).toBeUndefined()
  })

  it('are not looked for in more than 5,000 places, with a pause after each', async () => {
    const handles = Array.from({ length: 5_000 }, (_, at) => parseAddress(`0x${(0x10000 + at).toString(16)}`))
    const state = await stateOf(
      item(OUTER, Uint8Array.of(1), boxes(...handles)),
      item(handles.at(-1)!, new Uint8Array(8), INNER),
      item(handles[10]!, new Uint8Array(8), MIDDLE),
    )
    const search = findTableTypes(state, INNER, HOME)
    let pauses = 0
    while (!search.next().done) pauses++
    expect(pauses).toBe(5_000)
    expect(resultOf(findTableTypes(state, MIDDLE, HOME))).toBeDefined()
  })
})

describe('a walk through a hostile value', () => {
  const HOME = parseAddress('0xcafe')
  const parameter: SignatureToken = { kind: 'typeParameter', index: 0 }
  const of = (name: string, ...typeArguments: SignatureToken[]): SignatureToken => {
    return { kind: 'struct', module: { address: HOME, name: 'm' }, name, typeArguments }
  }
  const struct = (name: string, parameters: number, fields: readonly SignatureToken[]): StructDefinition => ({
    kind: 'struct',
    name,
    abilities: ABILITY.key,
    typeParameters: Array.from({ length: parameters }, () => ({ constraints: 0, phantom: false })),
    fields: fields.map((type, at) => ({ name: `f${at}`, type })),
  })

  async function walk(structs: readonly StructDefinition[], text: string, bytes: Uint8Array) {
    const module = writeModule({ version: 7, address: HOME, name: 'm', structs })
    const engine = await engineOf([[moduleKey(HOME, 'm'), module]])
    const modules = new ModuleCache()
    const walker = new ValueWalker(
      (id) => modules.find(engine.at(), id)?.read(),
      () => false,
    )
    return walker.walk(parseStructTag(text), new ByteReader(bytes))
  }

  it('is stuck if types grow with each level', async () => {
    const levels = Array.from({ length: 100 }, (_, at) => {
      return struct(`D${at + 1}`, 1, [of(`D${at}`, of('Pair', parameter, parameter))])
    })
    const pair = struct('Pair', 2, [])
    const structs = [pair, struct('D0', 1, [{ kind: 'u8' }]), ...levels]
    expect(await walk(structs, '0xcafe::m::D100<u8>', Uint8Array.of(1))).toBe('stuck')
    expect(await walk(structs, '0xcafe::m::D5<u8>', Uint8Array.of(1))).toBe('passed')
  })

  it('is stuck if a vector says that it has more elements than bytes', async () => {
    const structs = [struct('Empty', 0, []), struct('S', 0, [{ kind: 'vector', element: of('Empty') }])]
    const twoBillions = new ByteWriter().uleb128(0x7fff_ffff).toBytes()
    expect(await walk(structs, '0xcafe::m::S', twoBillions)).toBe('stuck')
  })
})
