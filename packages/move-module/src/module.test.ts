import { codecOf, layoutSize } from '@ledger-state/bcs'
import { addressToLongHex, isLedgerStateError, parseAddress } from '@ledger-state/core'
import { indexOfBytes } from '@ledger-state/core/bytes'
import { PRIMITIVE_TYPES, parseTypeTag, type StructTag } from '@ledger-state/type-tag'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { assembleModule } from './assemble-module.js'
import { layoutOf } from './layout-of.js'
import {
  ABILITY,
  type FieldDefinition,
  type MoveModule,
  type SignatureToken,
  type StructDefinition,
} from './module-definition.js'
import { readModule, readModuleCode } from './read-module.js'
import { writeModule } from './write-module.js'

const name = fc.stringMatching(/^[a-zA-Z][a-zA-Z0-9_]{0,8}$/)
const moduleId = fc.record({ address: fc.uint8Array({ minLength: 32, maxLength: 32 }), name })

const token: fc.Arbitrary<SignatureToken> = fc.letrec<{ token: SignatureToken }>((tie) => ({
  token: fc.oneof(
    { maxDepth: 4 },
    fc.constantFrom(...PRIMITIVE_TYPES).map((kind) => ({ kind })),
    fc.nat(300).map((index) => ({ kind: 'typeParameter' as const, index })),
    fc.record({
      kind: fc.constant('function' as const),
      abilities: fc.nat(15),
      parameters: fc.array(tie('token'), { maxLength: 2 }),
      results: fc.array(tie('token'), { maxLength: 2 }),
    }),
    tie('token').map((element) => ({ kind: 'vector' as const, element })),
    fc.record({ kind: fc.constant('reference' as const), mutable: fc.boolean(), to: tie('token') }),
    fc.record({
      kind: fc.constant('struct' as const),
      module: moduleId,
      name,
      typeArguments: fc.array(tie('token'), { maxLength: 2 }),
    }),
  ),
})).token

const fields: fc.Arbitrary<FieldDefinition[]> = fc.array(fc.record({ name, type: token }), { maxLength: 4 })
const definition: fc.Arbitrary<StructDefinition> = fc
  .record({
    name,
    abilities: fc.nat(15),
    typeParameters: fc.array(fc.record({ constraints: fc.nat(15), phantom: fc.boolean() }), { maxLength: 3 }),
    body: fc.oneof(
      fc.constant({ kind: 'native' as const }),
      fields.map((list) => ({ kind: 'struct' as const, fields: list })),
      fc.array(fc.record({ name, fields }), { maxLength: 4 }).map((variants) => ({ kind: 'enum' as const, variants })),
    ),
  })
  .map(({ body, ...rest }) => ({ ...rest, ...body }))
const arbitraryModule: fc.Arbitrary<MoveModule> = fc.record({
  version: fc.constantFrom(9, 10),
  address: fc.uint8Array({ minLength: 32, maxLength: 32 }),
  name,
  structs: fc.uniqueArray(definition, { selector: (one) => one.name, maxLength: 4 }),
})

describe('writeModule and readModule', () => {
  it('round-trip', () => {
    fc.assert(
      fc.property(arbitraryModule, (module) => {
        expect(readModule(writeModule(module))).toEqual(module)
      }),
    )
  })

  it('refuse damaged and random binaries with their own error', () => {
    fc.assert(
      fc.property(arbitraryModule, fc.nat(), fc.nat(255), fc.uint8Array(), (module, at, byte, noise) => {
        const binary = writeModule(module)
        const damaged = Uint8Array.from(binary)
        damaged[at % binary.length] = byte
        for (const candidate of [
          damaged,
          binary.subarray(0, at % binary.length),
          noise,
          Uint8Array.of(...binary.subarray(0, 8), ...noise),
        ]) {
          try {
            readModule(candidate)
          } catch (error) {
            expect(isLedgerStateError(error, 'invalid_module')).toBe(true)
            expect(isLedgerStateError(error) && error.fields.offset).toEqual(expect.any(Number))
          }
        }
      }),
    )
  })

  it('write each construct only into versions that know it', () => {
    const field = (type: SignatureToken): StructDefinition => ({
      kind: 'struct',
      name: 'S',
      abilities: 0,
      typeParameters: [],
      fields: [{ name: 'f', type }],
    })
    const module = (version: number, ...structs: StructDefinition[]): MoveModule => ({
      version,
      address: parseAddress('0x1'),
      name: 'm',
      structs,
    })
    expect(readModule(writeModule(module(5, field({ kind: 'u64' })))).version).toBe(5)
    const refused = expect.objectContaining({ code: 'unsupported_type' })
    expect(() => writeModule(module(5, field({ kind: 'u256' })))).toThrow(refused)
    expect(() => writeModule(module(8, field({ kind: 'i64' })))).toThrow(refused)
    expect(() =>
      writeModule(module(6, { kind: 'enum', name: 'E', abilities: 0, typeParameters: [], variants: [] })),
    ).toThrow(refused)
  })

  it('refuse names that are not identifiers, and `$` before version 9', () => {
    const named = (version: number, structName: string) =>
      writeModule({
        version,
        address: parseAddress('0x1'),
        name: 'm',
        structs: [{ kind: 'native', name: structName, abilities: 0, typeParameters: [] }],
      })
    for (const structName of ['a$b', '$a', '$$', '_$', '__']) {
      expect(readModule(named(9, structName)).structs[0]!.name).toBe(structName)
    }
    for (const [version, structName] of [
      [8, 'a$b'],
      [8, '$a'],
      [9, '$'],
      [9, '_'],
      [9, 'é'],
      [9, ''],
      [9, 'a b'],
    ] as const) {
      expect(() => readModule(named(version, structName))).toThrow(/a name that is not an identifier/)
    }
  })

  it('keep resource groups, and ignore metadata that does not parse', () => {
    const resourceGroup = parseTypeTag('0x1::object::ObjectGroup') as StructTag
    const structs: StructDefinition[] = ['Member', 'B', 'Other'].map((structName) => ({
      kind: 'struct',
      name: structName,
      abilities: ABILITY.key,
      typeParameters: [],
      fields: [],
      ...(structName !== 'Other' && { resourceGroup }),
    }))
    const binary = writeModule({ version: 6, address: parseAddress('0x1'), name: 'm', structs })
    expect(readModule(binary).structs).toEqual(structs)
    const damaged = Uint8Array.from(binary)
    damaged[indexOfBytes(binary, new TextEncoder().encode('aptos::metadata_v1')) + 'aptos::metadata_v1'.length + 1] = 9
    expect(readModule(damaged).structs.every((one) => one.resourceGroup === undefined)).toBe(true)
  })

  it('refuse other versions', () => {
    const binary = writeModule({ version: 6, address: parseAddress('0x1'), name: 'm', structs: [] })
    for (const version of [0, 4, 11]) {
      binary[4] = version
      expect(() => readModule(binary)).toThrow(/version \d+, 5 to 10 are read/)
    }
  })
})

describe('layoutOf', () => {
  const T0: SignatureToken = { kind: 'typeParameter', index: 0 }
  const parameter = { constraints: 0, phantom: false }
  const home = { address: parseAddress('0x1'), name: 'm' }
  const struct = (structName: string, types: Record<string, SignatureToken>, parameters = 0): StructDefinition => ({
    kind: 'struct',
    name: structName,
    abilities: ABILITY.store,
    typeParameters: new Array(parameters).fill(parameter),
    fields: Object.entries(types).map(([fieldName, type]) => ({ name: fieldName, type })),
  })
  const of = (structName: string, ...typeArguments: SignatureToken[]): SignatureToken => ({
    kind: 'struct',
    module: home,
    name: structName,
    typeArguments,
  })
  const module: MoveModule = {
    ...home,
    version: 9,
    structs: [
      struct('Pair', { a: T0, b: { kind: 'vector', element: T0 } }, 1),
      struct('Uses', { pair: of('Pair', { kind: 'u8' }) }),
      struct('Phantom', {}, 1),
      struct('Itself', { inner: of('Itself') }),
      struct('Grows', { inner: of('Grows', { kind: 'vector', element: T0 }) }, 1),
      struct('Doubles', { inner: of('Doubles', of('Pair2', T0, T0)) }, 1),
      struct('Pair2', { a: T0 }, 2),
      struct('Wide0', { a: { kind: 'u8' }, b: { kind: 'u8' } }),
      ...Array.from({ length: 40 }, (_, at) => struct(`Wide${at + 1}`, { a: of(`Wide${at}`), b: of(`Wide${at}`) })),
      struct('Closure', { call: { kind: 'function', abilities: 0, parameters: [], results: [] } }),
      { kind: 'native', name: 'Native', abilities: 0, typeParameters: [] },
    ],
  }
  const resolve = (text: string) =>
    layoutOf(parseTypeTag(text), ({ address, name: moduleName }) =>
      moduleName === 'm' && addressToLongHex(address) === addressToLongHex(home.address) ? module : undefined,
    )

  it('substitutes type arguments', () => {
    expect(resolve('0x1::m::Uses')).toEqual({
      kind: 'struct',
      name: 'Uses',
      fields: [
        {
          name: 'pair',
          layout: {
            kind: 'struct',
            name: 'Pair',
            fields: [
              { name: 'a', layout: { kind: 'u8' } },
              { name: 'b', layout: { kind: 'vector', element: { kind: 'u8' } } },
            ],
          },
        },
      ],
    })
    expect(resolve('0x1::m::Closure')).toMatchObject({ fields: [{ layout: { kind: 'function' } }] })
  })

  it('never resolves the type argument of a whole Object', () => {
    expect(resolve('0x1::object::Object<0x9::nowhere::T>')).toEqual({ kind: 'object' })
  })

  it.each([
    ['0x1::absent::S', 'module_not_found'],
    ['0x1::m::Absent', 'struct_not_found'],
    ['0x1::m::Pair', 'type_argument_count'],
    ['0x1::m::Uses<u8>', 'type_argument_count'],
    ['0x1::m::Phantom<0x1::absent::S>', 'module_not_found'],
    ['0x1::m::Phantom<signer>', 'unsupported_type'],
    ['signer', 'unsupported_type'],
    ['0x1::m::Native', 'unsupported_type'],
    ['0x1::m::Itself', 'type_too_large'],
    ['0x1::m::Grows<u8>', 'type_too_large'],
    ['0x1::m::Doubles<u8>', 'type_too_large'],
    ['0x1::m::Wide40', 'type_too_large'],
  ])('refuses %s: %s', (text, code) => {
    expect(() => resolve(text)).toThrow(expect.objectContaining({ code }))
  })

  it('lays out a type once, wherever it occurs', () => {
    const layout = resolve('0x1::m::Pair<0x1::m::Wide10>')
    // As a tree, the narrowest of these layouts would have 2^10 nodes.
    expect(layoutSize(layout)).toBeLessThan(50)
  })

  it('works within a budget of nodes', () => {
    expect(() => layoutOf(parseTypeTag('0x1::m::Wide10'), () => module, { maxNodes: 10 })).toThrow(
      expect.objectContaining({ code: 'type_too_large', message: 'the type has more than 10 parts' }),
    )
    const layout = layoutOf(parseTypeTag('0x1::m::Wide10'), () => module, { maxNodes: 200 })
    expect(layoutSize(layout)).toBeLessThanOrEqual(200)
    const wide = `0x1::m::Pair2<u8, 0x1::m::Pair<${'vector<'.repeat(6)}u8${'>'.repeat(6)}>>`
    expect(() => layoutOf(parseTypeTag(wide), () => module, { maxNodes: 5 })).toThrow(/more than 5 parts/)
  })

  it('asks for a module once', () => {
    let asked = 0
    layoutOf(parseTypeTag('0x1::m::Wide10'), () => {
      asked++
      return module
    })
    expect(asked).toBe(1)
  })

  it('makes no layout that a codec refuses as nested too deep', () => {
    // Each step wraps the previous one. The deepest that resolves is as deep as codecs can read.
    const steps = Array.from({ length: 140 }, (_, at) => struct(`Step${at + 1}`, { inner: of(`Step${at}`) }))
    const deep: MoveModule = { ...home, version: 9, structs: [struct('Step0', { end: { kind: 'bool' } }), ...steps] }
    const tag = (at: number) => parseTypeTag(`0x1::m::Step${at}`)
    const deepest = layoutOf(tag(127), () => deep)
    expect(codecOf(deepest).bytesToJson(Uint8Array.of(1))).toContain('true')
    expect(() => layoutOf(tag(128), () => deep)).toThrow(expect.objectContaining({ code: 'type_too_large' }))
    // A shallow part that was laid out first must not make a deep place pass.
    const late: MoveModule = {
      ...deep,
      structs: [...deep.structs, struct('Late', { first: of('Step100'), second: of('Step127') })],
    }
    expect(() => layoutOf(parseTypeTag('0x1::m::Late'), () => late)).toThrow(/nested more than 128 levels/)
  })
})

describe('a module that was assembled', () => {
  const u64 = { kind: 'u64' } as const
  const binary = assembleModule({
    address: '0xcafe',
    name: 'numbers',
    structs: [{ name: 'Held', abilities: 8, fields: [['amount', u64]] }],
    functions: [
      {
        name: 'least',
        parameters: [u64, u64],
        results: [u64],
        code: [
          ...([['copy_loc', 0], ['copy_loc', 1], ['lt'], ['br_false', 'second'], ['move_loc', 0], ['ret']] as const),
          { label: 'second' },
          ...([['move_loc', 1], ['ret']] as const),
        ],
      },
      { name: 'nothing', visibility: 'private', code: [['ret']] },
    ],
    errors: [[7n, 'ESEVEN', 'Seven.']],
  })

  it('is read back with its types, functions, marks of views and errors', () => {
    const { version, structs, functions, views, errors } = readModuleCode(binary)
    expect([version, [...views], [...errors]]).toEqual([10, ['least'], [[7n, { name: 'ESEVEN', text: 'Seven.' }]]])
    expect(structs).toMatchObject([{ name: 'Held', abilities: 8, fields: [{ name: 'amount', type: u64 }] }])
    expect(functions).toMatchObject([
      { name: 'least', visibility: 'public', parameters: [u64, u64], results: [u64] },
      { name: 'nothing', visibility: 'private', results: [] },
    ])
    // copy_loc, copy_loc, lt, br_false, move_loc, ret, move_loc, ret: the branch goes to the place of its label.
    expect([...functions[0]!.code!.opcodes]).toEqual([0x0a, 0x0a, 0x23, 0x04, 0x0b, 0x02, 0x0b, 0x02])
    expect(functions[0]!.code!.operands[3]).toBe(6)
  })
})
