import { codecOf, parseJson } from '@ledger-state/bcs'
import { createValueCodec, type MoveStruct, type MoveValue } from '@ledger-state/bcs/values'
import { addressToShortHex, ByteReader, bytesToHex, hexToBytes, LedgerStateError, type Write } from '@ledger-state/core'
import { openSource } from '@ledger-state/feed'
import { referenceCases } from '@ledger-state/testing/reference-cases'
import { hasSharedData, sharedPath } from '@ledger-state/testing/shared-data'
import { parseTypeTag, readStructTag, type StructTag, type TypeTag, typeTagToText } from '@ledger-state/type-tag'
import { beforeAll, describe, expect, it } from 'vitest'
import { type GetModule, layoutOf } from './layout-of.js'
import type { MoveModule } from './module-definition.js'
import { readModule } from './read-module.js'
import { substitute } from './substitute.js'

type Slot =
  | { kind: 'module' }
  | { kind: 'resource' | 'group'; tag: StructTag }
  | { kind: 'tableItem'; handle: string; key: Uint8Array }

function readStateKey(key: Uint8Array): Slot {
  const reader = new ByteReader(key)
  if (reader.readU8() === 1)
    return {
      kind: 'tableItem',
      handle: addressToShortHex(reader.readBytes(32)),
      key: reader.readBytes(reader.remaining),
    }
  reader.skip(32)
  reader.readLength()
  const kind = (['module', 'resource', 'group'] as const)[reader.readU8()]!
  return kind === 'module' ? { kind } : { kind, tag: readStructTag(reader) }
}

async function firstVersion(path: string): Promise<readonly Write[]> {
  const source = await openSource(sharedPath(path))
  try {
    for await (const { writes } of source.versions()) return writes
    throw new Error('the source is empty')
  } finally {
    await source.close()
  }
}

function modulesOf(writes: readonly Write[]): Map<string, MoveModule> {
  const modules = writes.filter(([key]) => key[0] === 0 && key[34] === 0).map(([, value]) => readModule(value!))
  return new Map(modules.map((module) => [`${addressToShortHex(module.address)}::${module.name}`, module]))
}

const getModuleOf =
  (modules: Map<string, MoveModule>): GetModule =>
  ({ address, name }) =>
    modules.get(`${addressToShortHex(address)}::${name}`)

/** Types of the items of tables, by handle, found by walking values together with their types. */
class TableTypes {
  readonly byHandle = new Map<string, { key: TypeTag; value: TypeTag }>()
  readonly #modules: Map<string, MoveModule>

  constructor(modules: Map<string, MoveModule>) {
    this.#modules = modules
  }

  collect(tag: TypeTag, value: MoveValue): void {
    if (tag.kind === 'vector' && Array.isArray(value))
      for (const item of value) this.collect(tag.element, item as MoveValue)
    if (tag.kind !== 'struct') return
    const text = `${addressToShortHex(tag.address)}::${tag.module}::${tag.name}`
    if (text === '0x1::table::Table') {
      this.byHandle.set((value as MoveStruct).handle as string, {
        key: tag.typeArguments[0]!,
        value: tag.typeArguments[1]!,
      })
      return
    }
    if (text === '0x1::option::Option') {
      for (const item of value as readonly MoveValue[]) this.collect(tag.typeArguments[0]!, item)
      return
    }
    const definition = this.#modules
      .get(`${addressToShortHex(tag.address)}::${tag.module}`)!
      .structs.find(({ name }) => name === tag.name)!
    if (typeof value !== 'object' || value instanceof Uint8Array || definition.kind === 'native') return
    const { variant, fields } = value as { variant?: string; fields?: MoveStruct }
    const declared =
      definition.kind === 'struct'
        ? definition.fields
        : definition.variants.find(({ name }) => name === variant)!.fields
    const members = definition.kind === 'struct' ? (value as MoveStruct) : fields!
    for (const field of declared) {
      const type = substitute(field.type, tag.typeArguments)
      if (type) this.collect(type, members[field.name]!)
    }
  }
}

describe.skipIf(!hasSharedData)('every stored value of a genesis', () => {
  it.each([
    ['mainnet', { module: 70, resource: 1323, group: 0, member: 0, tableItem: 1 }],
    ['testnet', { module: 63, resource: 64, group: 0, member: 0, tableItem: 1 }],
    ['devnet', { module: 190, resource: 99, group: 9, member: 20, tableItem: 4 }],
  ])('of %s is read to its last byte and written back as it was', async (network, counts) => {
    const writes = await firstVersion(`data/genesis/${network}.genesis.blob`)
    const modules = modulesOf(writes)
    const getModule = getModuleOf(modules)
    const tables = new TableTypes(modules)
    const seen = { module: 0, resource: 0, group: 0, member: 0, tableItem: 0 }
    const groupOf = new Map<string, string>()

    const roundTrip = (tag: TypeTag, bytes: Uint8Array): void => {
      const layout = layoutOf(tag, getModule)
      const values = createValueCodec(layout)
      const value = values.bytesToValue(bytes)
      expect(bytesToHex(values.valueToBytes(value))).toBe(bytesToHex(bytes))
      const codec = codecOf(layout)
      const json = codec.bytesToJson(bytes)
      JSON.parse(json)
      expect(bytesToHex(codec.jsonToBytes(parseJson(json)))).toBe(bytesToHex(bytes))
      tables.collect(tag, value)
    }

    const items: { handle: string; key: Uint8Array; value: Uint8Array }[] = []
    for (const [stateKey, value] of writes) {
      const slot = readStateKey(stateKey)
      seen[slot.kind]++
      if (slot.kind === 'resource') roundTrip(slot.tag, value!)
      else if (slot.kind === 'tableItem') items.push({ ...slot, value: value! })
      else if (slot.kind === 'group') {
        const reader = new ByteReader(value!)
        for (let left = reader.readLength(); left > 0; left--) {
          const tag = readStructTag(reader)
          groupOf.set(typeTagToText(tag), typeTagToText(slot.tag))
          roundTrip(tag, reader.readByteString())
          seen.member++
        }
        reader.expectEnd()
      }
    }
    // Tables inside of tables are known once the items around them were read.
    for (let open = items; open.length > 0; ) {
      const known = open.filter(({ handle }) => tables.byHandle.has(handle))
      if (known.length === 0)
        throw new LedgerStateError('invalid_value', `tables of unknown type: ${open.map(({ handle }) => handle)}`)
      for (const { handle, key, value } of known) {
        const types = tables.byHandle.get(handle)!
        roundTrip(types.key, key)
        roundTrip(types.value, value)
      }
      open = open.filter((item) => !known.includes(item))
    }
    expect(seen).toEqual(counts)

    for (const [member, group] of groupOf) {
      const tag = parseTypeTag(member) as StructTag
      const module = getModule({ address: tag.address, name: tag.module })!
      const declared = module.structs.find(({ name }) => name === tag.name)!.resourceGroup
      expect(declared && typeTagToText(declared)).toBe(group)
    }
    // Every definition without type parameters has a layout.
    for (const module of modules.values()) {
      for (const { name, typeParameters, kind } of module.structs) {
        if (typeParameters.length > 0 || kind === 'native') continue
        const tag: TypeTag = { kind: 'struct', address: module.address, module: module.name, name, typeArguments: [] }
        try {
          layoutOf(tag, getModule)
        } catch (error) {
          // A few structs have a signer, or references in function types. Such values are never stored.
          expect(error).toMatchObject({ code: 'unsupported_type' })
        }
      }
    }
  })
})

describe.skipIf(!hasSharedData)('a codec', () => {
  let getModule: GetModule
  beforeAll(async () => {
    getModule = getModuleOf(modulesOf(await firstVersion('conformance/fixture.ndjson.gz')))
  })

  it.each(referenceCases('value_json_to_bcs'))(
    'writes the result of the reference case $id',
    ({ input, expect: expected }) => {
      const encode = () =>
        codecOf(layoutOf(parseTypeTag(input.type), getModule)).jsonToBytes(parseJson(JSON.stringify(input.json)))
      if (expected.bcs !== undefined) expect(bytesToHex(encode())).toBe(expected.bcs)
      else expect(() => encode()).toThrow(LedgerStateError)
    },
  )

  it.each(referenceCases('value_bcs_to_json'))(
    'prints the JSON of the reference case $id',
    ({ input, expect: expected }) => {
      const decode = () => codecOf(layoutOf(parseTypeTag(input.type), getModule)).bytesToJson(hexToBytes(input.bcs))
      if (expected.json_text !== undefined) expect(decode()).toBe(expected.json_text)
      else expect(() => decode()).toThrow(LedgerStateError)
    },
  )
})
