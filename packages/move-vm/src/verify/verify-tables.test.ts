import { parseAddress } from '@ledger-state/core'
import {
  ABILITY,
  type AssembledConstant,
  type AssembledFunction,
  type AssembledStruct,
  type Assembly,
  type AssemblyLine,
  assembleModule,
  type ModuleCode,
  readModuleCode,
  type SignatureToken,
} from '@ledger-state/move-module'
import { moduleKey } from '@ledger-state/type-tag'
import { describe, expect, it } from 'vitest'
import { callView, TestState } from '../../testing/test-state.js'
import { VmFault } from '../faults/vm-fault.js'
import { createVm } from '../index.js'
import { LoadedModule } from '../load/loaded-module.js'
import { verifyTables } from './verify-tables.js'

const U64: SignatureToken = { kind: 'u64' }
const T: SignatureToken = { kind: 'typeParameter', index: 0 }
const U: SignatureToken = { kind: 'typeParameter', index: 1 }
const SELF = { address: parseAddress('0x42'), name: 'm' }
const vector = (element: SignatureToken): SignatureToken => ({ kind: 'vector', element })
const struct = (name: string, ...typeArguments: SignatureToken[]): SignatureToken => ({
  kind: 'struct',
  module: SELF,
  name,
  typeArguments,
})
const GOOD: AssembledFunction = { name: 'good', results: [U64], code: [['ld_u64', 1], ['ret']] }
const BOX: AssembledStruct = {
  name: 'Box',
  abilities: ABILITY.copy | ABILITY.drop | ABILITY.store,
  typeParameters: [0],
  fields: [['value', T]],
}
const CHOICE: AssembledStruct = {
  name: 'Choice',
  abilities: ABILITY.copy | ABILITY.drop | ABILITY.store,
  typeParameters: [0],
  variants: ['A', 'B'].map((name) => ({ name, fields: [['value', T]] })),
}

/** Calls a function of a module that has another fault. Returns the message of the refusal, twice the same. */
function refusalOf(assembly: Omit<Assembly, 'name'> | Uint8Array): string | undefined {
  const bytes = assembly instanceof Uint8Array ? assembly : assembleModule({ ...assembly, name: 'm' })
  const state = new TestState([])
  state.set(moduleKey(SELF.address, SELF.name), bytes)
  const vm = createVm()
  const [first, again] = [1, 2].map(() => callView(vm, state, 'm::good').fault)
  expect(again?.message).toBe(first?.message)
  if (first) expect(first.code).toBe(2006)
  return first?.message
}

function verify(code: ModuleCode): string | undefined {
  try {
    for (const work of verifyTables(code, new LoadedModule(code, 1))) expect(work).toBeGreaterThanOrEqual(0)
    return undefined
  } catch (error) {
    if (error instanceof VmFault) return error.message
    throw error
  }
}

describe('the tables of a module have no entry twice', () => {
  // A module with entries in each table.
  const code = readModuleCode(
    assembleModule({
      name: 'm',
      structs: [BOX, CHOICE, { name: 'Plain', abilities: ABILITY.key, fields: [['x', U64]] }],
      functions: [
        GOOD,
        {
          name: 'all',
          typeParameters: [0],
          parameters: [{ kind: 'reference', mutable: false, to: struct('Box', U64) }],
          code: [
            ['ld_const', { constant: Uint8Array.of(1, 2), type: vector({ kind: 'u8' }) }],
            ['call_generic', { name: 'all', typeParameters: [0], typeArguments: [U64] }],
            ['pack_generic', struct('Box', U64)],
            ['imm_borrow_field_generic', { field: 'Box.value', typeArguments: [U64] }],
          ] as never,
        },
      ],
    }),
  )
  const single = code.signatures.find((signature) => signature.length === 1 && signature[0]!.kind === 'u64')!
  const more: ModuleCode = {
    ...code,
    friends: [{ address: parseAddress('0x42'), name: 'good' }],
    structInstantiations: [{ of: 0, typeArguments: single }],
    fieldInstantiations: [{ of: 0, typeArguments: single }],
    fieldHandles: [{ struct: 0, field: 0 }],
    variantFieldHandles: [
      { struct: 1, field: 0, variants: [0, 1] },
      { struct: 1, field: 0, variants: [0] },
    ],
    variantFieldInstantiations: [{ of: 0, typeArguments: single }],
    variantHandles: [
      { struct: 1, variant: 0 },
      { struct: 1, variant: 1 },
    ],
    variantInstantiations: [{ of: 0, typeArguments: single }],
  }

  it('accepts the module whose tables the others change', () => expect(verify(more)).toBeUndefined())

  it.each([
    ['identifiers', 'identifiers'],
    ['addresses', 'addresses'],
    ['moduleHandles', 'module handles'],
    ['friends', 'friends'],
    ['structHandles', 'struct handles'],
    ['functionHandles', 'function handles'],
    ['functionInstantiations', 'function instantiations'],
    ['signatures', 'signatures'],
    ['constants', 'constants'],
    ['structInstantiations', 'struct instantiations'],
    ['fieldHandles', 'field handles'],
    ['fieldInstantiations', 'field instantiations'],
    ['variantFieldHandles', 'variant field handles'],
    ['variantFieldInstantiations', 'variant field instantiations'],
    ['variantHandles', 'variant handles'],
    ['variantInstantiations', 'variant instantiations'],
    ['structs', 'structs'],
    ['functions', 'functions'],
  ] as const)('%s', (table, name) => {
    const entries: readonly object[] = more[table] as never
    expect(entries.length).toBeGreaterThan(0)
    for (const copied of [entries[0], entries.at(-1)] as never[]) {
      // A copy, as the reader would make it.
      const copy = typeof copied === 'object' ? structuredClone(copied) : copied
      expect(verify({ ...more, [table]: [...entries, copied] })).toContain(`two equal ${name}`)
      if (['identifiers', 'addresses', 'constants', 'fieldHandles', 'variantHandles', 'friends'].includes(table)) {
        expect(verify({ ...more, [table]: [...entries, copy] })).toContain(`two equal ${name}`)
      }
    }
  })

  it('is asked of modules in a state', () => {
    const named = (other: string) =>
      assembleModule({ name: 'm', functions: [GOOD, { ...GOOD, name: other, isView: false }] })
    expect(refusalOf(named('evil'))).toBeUndefined()
    const bytes = named('evil')
    const at = Buffer.from(bytes).indexOf('evil')
    bytes.set(Buffer.from('good'), at)
    expect(refusalOf(bytes)).toContain('two equal identifiers')
  })

  it('compares names of 64 KiB in many types without reading them again', () => {
    const name = 'N'.repeat(65_535)
    const long = struct(name, U64)
    const parameters = new Array<SignatureToken>(250).fill(long)
    const functions = Array.from({ length: 60 }, (_, at) => ({
      ...GOOD,
      name: `f${at}`,
      parameters: parameters.slice(at),
      isView: false,
    }))
    expect(refusalOf({ structs: [{ ...BOX, name }], functions: [GOOD, ...functions] })).toBeUndefined()
  })
})

describe('entries that no code names are well-formed', () => {
  const code = readModuleCode(assembleModule({ name: 'm', structs: [BOX, CHOICE], functions: [GOOD] }))
  const none = code.signatures.find(({ length }) => length === 0)!
  const single = code.signatures.find(({ length }) => length === 1)!
  const reference = (to: SignatureToken): SignatureToken => ({ kind: 'reference', mutable: false, to })
  const withType = (type: SignatureToken): Partial<ModuleCode> => ({ signatures: [...code.signatures, [type]] })
  const withFriend = (address: string, name: string) => ({ friends: [{ address: parseAddress(address), name }] })
  const instantiated = (table: keyof ModuleCode, typeArguments: typeof single): Partial<ModuleCode> => ({
    fieldHandles: [{ struct: 0, field: 0 }],
    variantHandles: [{ struct: 1, variant: 0 }],
    variantFieldHandles: [{ struct: 1, field: 0, variants: [0] }],
    [table]: [{ of: 0, typeArguments }],
  })
  const generic = (table: keyof ModuleCode) =>
    [table, instantiated(table, single), instantiated(table, none), 'a wrong number of type arguments'] as const

  it.each<readonly [string, Partial<ModuleCode>, Partial<ModuleCode>, string]>([
    ['types', withType(struct('Box', U64)), withType(struct('Box')), 'a wrong number of type arguments'],
    ['types in types', withType(vector(U64)), withType(vector(reference(U64))), 'a reference in the place of a value'],
    ['references', withType(reference(U64)), withType(reference(reference(U64))), 'a reference to a reference'],
    ['friends', withFriend('0x42', 'n'), withFriend('0x43', 'n'), 'a friend at another address'],
    ['friends', withFriend('0x42', 'n'), withFriend('0x42', 'm'), 'a module that is its own friend'],
    generic('structInstantiations'),
    generic('fieldInstantiations'),
    generic('variantInstantiations'),
    generic('variantFieldInstantiations'),
  ])('%s', (_, accepted, refused, why) => {
    expect(verify({ ...code, ...accepted })).toBeUndefined()
    expect(verify({ ...code, ...refused })).toContain(why)
  })

  it.each<[string, SignatureToken, Uint8Array]>([
    ['of structs', struct('Box', U64), Uint8Array.of(1)],
    ['of vectors of structs', vector(struct('Box', U64)), Uint8Array.of(0)],
    ['with bytes after the value', U64, new Uint8Array(9)],
  ])('constants %s', (_, type, constant) => {
    const withConstant = (second: AssembledConstant): Uint8Array => {
      const first: AssembledConstant = { type: { kind: 'bool' }, constant: Uint8Array.of(1) }
      const code: AssemblyLine[] = [['ld_const', first], ['pop'], ['ld_const', second], ['pop'], ['ret']]
      const bytes = assembleModule({ name: 'm', structs: [BOX], functions: [GOOD, { name: 'loading', code }] })
      // Instructions that load the first constant twice, so that none loads the second.
      const at = Buffer.from(bytes).indexOf(Buffer.of(7, 0, 1, 7, 1, 1, 2))
      expect(at).toBeGreaterThan(0)
      bytes[at + 4] = 0
      return bytes
    }
    expect(refusalOf(withConstant({ type: U64, constant: new Uint8Array(8) }))).toBeUndefined()
    expect(refusalOf(withConstant({ type, constant }))).toMatch(/a constant/)
  })
})

describe('the definitions of a module', () => {
  it.each<[string, AssembledStruct, AssembledStruct]>([
    ['a struct without fields', { name: 'S', fields: [] }, { name: 'S', fields: [['x', U64]] }],
    ['an enum without variants', { name: 'S', variants: [] }, { name: 'S', variants: [{ name: 'A', fields: [] }] }],
    [
      'two equal fields of S',
      { name: 'S', fields: ['x', 'x'].map((name) => [name, U64]) },
      { name: 'S', fields: ['x', 'y'].map((name) => [name, U64]) },
    ],
    [
      'two equal variants of S',
      { name: 'S', variants: ['A', 'A'].map((name) => ({ name, fields: [] })) },
      { name: 'S', variants: ['A', 'B'].map((name) => ({ name, fields: [] })) },
    ],
    [
      'two equal fields of S',
      { name: 'S', variants: [{ name: 'A', fields: ['x', 'x'].map((name) => [name, U64]) }] },
      { name: 'S', variants: ['A', 'B'].map((name) => ({ name, fields: [['x', U64]] })) },
    ],
  ])('%s', (why, refused, accepted) => {
    expect(refusalOf({ structs: [{ abilities: 3, ...accepted }], functions: [GOOD] })).toBeUndefined()
    expect(refusalOf({ structs: [{ abilities: 3, ...refused }], functions: [GOOD] })).toContain(why)
  })
})

describe('generic functions do not call each other with ever larger types', () => {
  const generic = (name: string, count: number, ...calls: (readonly [string, ...SignatureToken[]])[]) => ({
    name,
    isView: false,
    typeParameters: new Array<number>(count).fill(0),
    code: [
      ...calls.map(([called, ...typeArguments]) => [
        'call_generic',
        { name: called, typeParameters: typeArguments.map(() => 0), typeArguments },
      ]),
      ['ret'],
    ] as never,
  })
  const message = 'a generic function that calls itself with ever larger types'
  const closure: SignatureToken = { kind: 'function', parameters: [T], results: [], abilities: 0 }

  it.each<[string, AssembledFunction[], AssembledFunction[]]>([
    ['f<T> calls f<vector<T>>', [generic('f', 1, ['f', vector(T)])], [generic('f', 1, ['f', T], ['f', vector(U64)])]],
    ['f<T> calls f<|T|>', [generic('f', 1, ['f', closure])], [generic('f', 1, ['f', T])]],
    ['f<T, U> calls f<Box<U>, T>', [generic('f', 2, ['f', struct('Box', U), T])], [generic('f', 2, ['f', U, T])]],
    [
      'f calls g<T>, which calls f<vector<T>>',
      [generic('f', 1, ['g', T]), generic('g', 1, ['f', vector(T)])],
      [generic('f', 1, ['g', vector(T)]), generic('g', 1)],
    ],
    [
      'a loop in which only one of many functions adds to the type',
      [
        ...Array.from({ length: 300 }, (_, at) => generic(`f${at}`, 1, [`f${at + 1}`, T])),
        generic('f300', 1, ['f0', vector(T)]),
      ],
      [
        ...Array.from({ length: 300 }, (_, at) => generic(`f${at}`, 1, [`f${at + 1}`, vector(T)])),
        generic('f300', 1, ['f300', T]),
      ],
    ],
    [
      'an argument that grows for a parameter that another argument replaces',
      [generic('f', 2, ['f', T, vector(U)])],
      [generic('f', 2, ['f', T, vector(T)])],
    ],
  ])('%s', (_, refused, accepted) => {
    expect(refusalOf({ structs: [BOX], functions: [GOOD, ...accepted] })).toBeUndefined()
    expect(refusalOf({ structs: [BOX], functions: [GOOD, ...refused] })).toContain(message)
  })

  it('bounds the graph of hostile modules', () => {
    const many = Array.from({ length: 255 }, (_, index): SignatureToken => ({ kind: 'typeParameter', index }))
    const wide = many.map((one) => vector(one))
    const callers = Array.from({ length: 1_000 }, (_, at) => generic(`f${at}`, 255, [`f${(at + 1) % 1_000}`, ...wide]))
    const state = new TestState([{ name: 'm', functions: [GOOD, ...callers] }])
    expect(callView(createVm(), state, 'm::good').fault?.code).toBe(4030)
  })
})
