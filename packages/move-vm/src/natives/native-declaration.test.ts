import { ByteWriter, parseAddress } from '@ledger-state/core'
import type { AssembledFunction, Assembly, AssemblyLine, SignatureToken } from '@ledger-state/move-module'
import { describe, expect, it } from 'vitest'
import { callView, TestState } from '../../testing/test-state.js'
import { createVm } from '../index.js'
import { compareDeclaration } from './native-declaration.js'
import { NATIVE_SIGNATURES } from './native-signatures.js'
import { NATIVES } from './native-table.js'
import { UNBUILT_NATIVES } from './unbuilt-natives.js'

const U64: SignatureToken = { kind: 'u64' }
const NAMES = Object.keys(NATIVE_SIGNATURES)

interface Declaration {
  readonly typeParameters: number[]
  readonly parameters: SignatureToken[]
  readonly results: SignatureToken[]
}

/** A view that calls a native which a hostile store declares. */
function callOf(name: string, declaration: Declaration): readonly Assembly[] {
  const [address, module, function_] = name.split('::') as [string, string, string]
  const signature = { ...declaration, name: function_ }
  const callee = { ...signature, module: { address: parseAddress(address), name: module } }
  const view: AssembledFunction = {
    name: 'f',
    results: [U64],
    code: [
      ...declaration.parameters.map((): ['ld_u64', number] => ['ld_u64', 7]),
      declaration.typeParameters.length > 0
        ? ['call_generic', { ...callee, typeArguments: declaration.typeParameters.map(() => U64) }]
        : ['call', callee],
      ...declaration.results.map((): ['pop'] => ['pop']),
      ['ld_u64', 1],
      ['ret'],
    ],
  }
  const host: Assembly = {
    name: module,
    address,
    functions: [{ ...signature, isNative: true, visibility: 'public', isView: false }],
  }
  return [{ name: 'm', functions: [view] }, host]
}

function expectRefused(name: string, declaration: Declaration): void {
  const outcome = callView(createVm(), new TestState(callOf(name, declaration)), 'm::f')
  expect(outcome.fault?.message).toContain('is declared with another signature')
}

describe('a native that a hostile store declares', () => {
  it('has a known signature, if it is built', () => {
    const built = [...NATIVES.keys()].filter((name) => UNBUILT_NATIVES[name] === undefined)
    expect(built.filter((name) => NATIVE_SIGNATURES[name] === undefined)).toEqual([])
    expect(NAMES.filter((name) => !built.includes(name))).toEqual([])
  })

  it.each(NAMES)('%s is refused with other type parameters, parameters or results', (name) => {
    const count = Number(/^<(\d+)>/.exec(NATIVE_SIGNATURES[name]!)![1])
    const own = Array.from({ length: count }, () => 0)
    expectRefused(name, { typeParameters: [...own, 0], parameters: [], results: [] })
    // No native has these parameters and results.
    expectRefused(name, { typeParameters: own, parameters: Array.from({ length: 7 }, () => U64), results: [U64] })
    expectRefused(name, { typeParameters: own, parameters: [], results: Array.from({ length: 3 }, () => U64) })
  })

  const STRING = struct('string', 'String')
  const BYTES: SignatureToken = { kind: 'vector', element: { kind: 'u8' } }
  const RESOLVE = {
    module: { address: parseAddress('0x1'), name: 'reflect' },
    name: 'native_resolve',
    parameters: [{ kind: 'address' }, reference(STRING), reference(STRING)],
    results: [struct('result', 'Result')],
    typeParameters: [0],
  } satisfies Partial<AssembledFunction> & { readonly module: unknown }

  /** A view that resolves `0x42::m::f` by a native whose module declares a struct of its own as the result. */
  function viewOfResult(...use: readonly AssemblyLine[]): TestState {
    const text = (value: string): readonly AssemblyLine[] => [
      ['ld_const', { type: BYTES, constant: new ByteWriter().string(value).toBytes() }],
      [
        'call',
        {
          module: { address: parseAddress('0x1'), name: 'string' },
          name: 'of',
          parameters: [BYTES],
          results: [STRING],
        },
      ],
    ]
    const view: AssembledFunction = {
      name: 'f',
      results: [U64],
      locals: [STRING, STRING, struct('result', 'Result')],
      code: [
        ...text('m'),
        ['st_loc', 0],
        ...text('f'),
        ['st_loc', 1],
        ['ld_const', { type: { kind: 'address' }, constant: parseAddress('0x42') }],
        ['imm_borrow_loc', 0],
        ['imm_borrow_loc', 1],
        [
          'call_generic',
          { ...RESOLVE, typeArguments: [{ kind: 'function', parameters: [], results: [U64], abilities: 7 }] },
        ],
        ...use,
      ],
    }
    const fields = { name: 'Result', fields: [['x', U64]] as const }
    return new TestState([
      { name: 'm', functions: [view] },
      {
        name: 'reflect',
        address: '0x1',
        functions: [{ ...RESOLVE, isNative: true, visibility: 'public', isView: false }],
      },
      {
        name: 'result',
        address: '0x1',
        structs: [fields],
        functions: [
          {
            name: 'unpacked',
            parameters: [struct('result', 'Result')],
            results: [U64],
            code: [['move_loc', 0], ['unpack', 'Result'], ['ret']],
            isView: false,
          },
          {
            name: 'borrowed',
            parameters: [reference(struct('result', 'Result'))],
            results: [U64],
            code: [['move_loc', 0], ['imm_borrow_field', 'Result.x'], ['read_ref'], ['ret']],
            isView: false,
          },
        ],
      },
      {
        name: 'string',
        address: '0x1',
        structs: [{ name: 'String', fields: [['bytes', BYTES]] }],
        functions: [
          {
            name: 'of',
            parameters: [BYTES],
            results: [STRING],
            code: [['move_loc', 0], ['pack', 'String'], ['ret']],
            isView: false,
          },
        ],
      },
    ])
  }

  it('runs if only a struct has another name, and its result can be moved and dropped', () => {
    const state = viewOfResult(['st_loc', 2], ['move_loc', 2], ['pop'], ['ld_u64', 1], ['ret'])
    expect(callView(createVm(), state, 'm::f').fault).toBeUndefined()
  })

  it.each(['unpacked', 'borrowed'])(
    'has a result of another struct, whose fields cannot be read, if it is %s',
    (how) => {
      const result = struct('result', 'Result')
      const x = {
        module: { address: parseAddress('0x1'), name: 'result' },
        name: how,
        parameters: [how === 'unpacked' ? result : reference(result)],
        results: [U64],
      }
      const use: readonly AssemblyLine[] =
        how === 'unpacked'
          ? []
          : [
              ['st_loc', 2],
              ['imm_borrow_loc', 2],
            ]
      const outcome = callView(createVm(), viewOfResult(...use, ['call', x], ['ret']), 'm::f')
      expect(outcome.fault?.message).toContain('a struct that a native returns and its module does not declare')
    },
  )

  it('is refused if two vectors may have elements of two types', () => {
    const vector = (index: number): SignatureToken => ({
      kind: 'reference',
      mutable: true,
      to: { kind: 'vector', element: { kind: 'typeParameter', index } },
    })
    const declare = (from: number, to: number) =>
      compareDeclaration('0x1::vector::move_range', {
        typeParameters: [0],
        parameters: [vector(from), U64, U64, vector(to), U64],
        results: [],
      })
    expect(declare(0, 0)).toEqual({ foreignResults: [] })
    expect(declare(0, 1)).toBe('refused')
  })
})

function struct(module: string, name: string): SignatureToken {
  return { kind: 'struct', module: { address: parseAddress('0x1'), name: module }, name, typeArguments: [] }
}

function reference(to: SignatureToken): SignatureToken {
  return { kind: 'reference', mutable: false, to }
}
