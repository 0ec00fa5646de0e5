import { ByteReader, ByteWriter, bytesToHex, isLedgerStateError, parseAddress } from '@ledger-state/core'
import { openSource } from '@ledger-state/feed'
import { ABILITY, type SignatureToken, type StructDefinition, writeModule } from '@ledger-state/move-module'
import { createMemoryEngine } from '@ledger-state/state-engine'
import { hasSharedData, sharedPath } from '@ledger-state/testing/shared-data'
import { decodeStateKey, moduleKey, parseStructTag, typeTagToText } from '@ledger-state/type-tag'
import { beforeAll, describe, expect, it } from 'vitest'
import { engineOf } from '../../testing/engine-of.ts'
import { createLedger } from '../create-ledger.js'
import type { LedgerState, Resource } from '../index.js'
import { ModuleCache } from '../modules/module-cache.js'
import { ValueWalker } from './value-walker.js'

/** Undefined where the stored bytes are not of their type. */
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

  /** Owners of resources. */
  const owners = () => {
    const found = new Set<string>()
    for (const { key } of engine.at().scan(new Uint8Array(0))) {
      const decoded = decodeStateKey(key)
      if ('address' in decoded) found.add(bytesToHex(decoded.address))
    }
    return [...found].map((text) => parseAddress(text))
  }

  it('are looked for in every place of every resource: what can be printed is walked through to its last byte', () => {
    const modules = new ModuleCache()
    for (const owner of owners()) {
      for (const resource of state.listResources(owner)) {
        const json = jsonOf(resource)
        if (json === undefined || json.includes('__fun_name__')) continue
        const reader = new ByteReader(resource.bytes)
        const outcome = new ValueWalker(engine.at(), modules, () => false).walk(resource.tag, reader)
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
        const types = state.findTableTypes(handle, holder)
        if (!types) continue
        found++
        expect(state.readResource(holder, types.foundIn).toJson()).toContain(`"0x${text.replace(/^0x0*/, '')}"`)
        for (const { key, value } of state.listTableItems(handle, types)) {
          expect([typeTagToText(types.keyType), key!.toJson()]).not.toContain('')
          expect(() => value!.toJson()).not.toThrow()
        }
        break
      }
    }
    if (handles.size > 0 && file.includes('genesis')) expect(found).toBeGreaterThan(0)
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
    const walker = new ValueWalker(engine.at(), new ModuleCache(), () => false)
    return walker.walk(parseStructTag(text), new ByteReader(bytes))
  }

  it('is stuck where types grow with each level', async () => {
    const levels = Array.from({ length: 100 }, (_, at) => {
      return struct(`D${at + 1}`, 1, [of(`D${at}`, of('Pair', parameter, parameter))])
    })
    const pair = struct('Pair', 2, [])
    const structs = [pair, struct('D0', 1, [{ kind: 'u8' }]), ...levels]
    expect(await walk(structs, '0xcafe::m::D100<u8>', Uint8Array.of(1))).toBe('stuck')
    expect(await walk(structs, '0xcafe::m::D5<u8>', Uint8Array.of(1))).toBe('passed')
  })

  it('is stuck where a vector says that it has more elements than bytes', async () => {
    const structs = [struct('Empty', 0, []), struct('S', 0, [{ kind: 'vector', element: of('Empty') }])]
    const twoBillions = new ByteWriter().uleb128(0x7fff_ffff).toBytes()
    expect(await walk(structs, '0xcafe::m::S', twoBillions)).toBe('stuck')
  })
})
