import { ByteWriter, parseAddress } from '@ledger-state/core'
import type { SignatureToken } from '@ledger-state/move-module'
import { parseTypeTag } from '@ledger-state/type-tag'
import { describe, expect, it } from 'vitest'
import { callView, TestState } from '../../testing/test-state.js'
import { createVm } from '../index.js'

const U64: SignatureToken = { kind: 'u64' }
const BOOL: SignatureToken = { kind: 'bool' }
const SELF = { address: parseAddress('0x42'), name: 'm' }
const own = (name: string): SignatureToken => ({ kind: 'struct', module: SELF, name, typeArguments: [] })
const vector = (element: SignatureToken): SignatureToken => ({ kind: 'vector', element })
const STRING: SignatureToken = {
  kind: 'struct',
  module: { address: parseAddress('0x1'), name: 'string' },
  name: 'String',
  typeArguments: [],
}

/** Types of views that return their argument; one view for each type. */
const TYPES: Readonly<Record<string, SignatureToken>> = {
  bool: BOOL,
  u64: U64,
  address: { kind: 'address' },
  signer: { kind: 'signer' },
  bools: vector(BOOL),
  bytes: vector({ kind: 'u8' }),
  nested: vector(vector({ kind: 'u16' })),
  text: STRING,
  reference: { kind: 'reference', mutable: false, to: U64 },
  point: own('Point'),
  points: vector(own('Point')),
  shape: own('Shape'),
  hidden: own('Hidden'),
  resource: own('Resource'),
}

const POINT_FIELDS = [
  ['x', U64],
  ['on', BOOL],
] as const
const state = new TestState([
  {
    name: 'm',
    structs: [
      { name: 'Point', abilities: 7, fields: POINT_FIELDS },
      {
        name: 'Shape',
        abilities: 7,
        variants: [
          { name: 'None', fields: [] },
          { name: 'At', fields: [['p', own('Point')]] },
        ],
      },
      { name: 'Hidden', abilities: 7, fields: POINT_FIELDS },
      { name: 'Resource', abilities: 15, fields: POINT_FIELDS },
    ],
    functions: [
      ...Object.entries(TYPES).map(([name, type]) => ({
        name,
        parameters: [type],
        results: [type],
        code: [['move_loc', 0], ['ret']] as const,
      })),
      {
        name: 'pack$Point',
        parameters: POINT_FIELDS.map(([, type]) => type),
        results: [own('Point')],
        attributes: [3],
        isView: false,
        code: [['move_loc', 0], ['move_loc', 1], ['pack', 'Point'], ['ret']],
      },
      {
        name: 'pack$Shape$At',
        parameters: [own('Point')],
        results: [own('Shape')],
        attributes: [4],
        isView: false,
        code: [['move_loc', 0], ['pack_variant', 'Shape::At'], ['ret']],
      },
      { name: 'unmarked', parameters: [U64], results: [U64], isView: false, code: [['move_loc', 0], ['ret']] },
      { name: 'nothing', parameters: [], results: [], isView: true, code: [['ret']] },
      {
        name: 'generic',
        parameters: [{ kind: 'typeParameter', index: 0 }],
        results: [{ kind: 'typeParameter', index: 0 }],
        typeParameters: [4],
        code: [['move_loc', 0], ['ret']],
      },
    ],
  },
  {
    address: '0x1',
    name: 'string',
    structs: [{ name: 'String', abilities: 7, fields: [['bytes', vector({ kind: 'u8' })]] }],
    functions: [],
  },
])
const vm = createVm()
const AT_M = `at location Module ModuleId { address: ${'42'.padStart(64, '0')}, name: Identifier("m") }`

function ask(name: string, ...args: Uint8Array[]) {
  return callView(vm, state, `m::${name}`, args)
}

const POINT = new ByteWriter().u64(9n).u8(1).toBytes()

describe('arguments', () => {
  it.each<[string, Uint8Array, Uint8Array?]>([
    ['bool', Uint8Array.of(1)],
    ['u64', new ByteWriter().u64(2n ** 64n - 1n).toBytes()],
    ['address', parseAddress('0xabc')],
    ['signer', Uint8Array.of(0, ...parseAddress('0xabc')), parseAddress('0xabc')],
    ['bools', Uint8Array.of(2, 0, 1)],
    ['bytes', Uint8Array.of(3, 0, 1, 255)],
    ['nested', Uint8Array.of(2, 0, 1, 7, 0)],
    ['text', new ByteWriter().string('Zürich').toBytes()],
    ['point', POINT],
    ['points', Uint8Array.of(2, ...POINT, ...POINT)],
    ['shape', Uint8Array.of(1, ...POINT)],
  ])('of type %s come as they are sent', (name, bytes, expected = bytes) => {
    expect(ask(name, bytes)).toMatchObject({ results: [expected] })
  })

  const display = (status: string) => `VMError with status ${status} ${AT_M}`
  it.each<[string, string, Uint8Array[], number, string]>([
    ['a wrong length', 'u64', [Uint8Array.of(1)], 1100, '[VM] failed to deserialize argument'],
    ['bytes behind a number', 'u64', [new Uint8Array(9)], 1100, '[VM] failed to deserialize argument'],
    ['a bool of 2', 'bool', [Uint8Array.of(2)], 1100, '[VM] failed to deserialize argument'],
    ['a bool of 2 in a vector', 'bools', [Uint8Array.of(1, 2)], 1100, '[VM] failed to deserialize argument'],
    ['bytes behind a vector', 'bools', [Uint8Array.of(1, 1, 1)], 1100, display('FAILED_TO_DESERIALIZE_ARGUMENT')],
    ['bytes missing', 'nested', [Uint8Array.of(2, 0)], 1100, display('FAILED_TO_DESERIALIZE_ARGUMENT')],
    ['text that is not UTF-8', 'text', [Uint8Array.of(1, 0xff)], 4016, display('ABORTED')],
    [
      'more than 1,000,000 bytes',
      'bytes',
      [new ByteWriter().byteString(new Uint8Array(1_000_001)).toBytes()],
      1100,
      display('FAILED_TO_DESERIALIZE_ARGUMENT'),
    ],
    [
      'more than 32 structs',
      'points',
      [Uint8Array.of(33, ...new Array(33).fill([...POINT]).flat())],
      1100,
      display('FAILED_TO_DESERIALIZE_ARGUMENT'),
    ],
    ['a reference', 'reference', [new Uint8Array(8)], 1011, display('INVALID_MAIN_FUNCTION_SIGNATURE')],
    ['a struct that nobody else packs', 'hidden', [POINT], 1011, display('INVALID_MAIN_FUNCTION_SIGNATURE')],
    ['a resource', 'resource', [POINT], 1011, display('INVALID_MAIN_FUNCTION_SIGNATURE')],
    ['a variant that nobody else packs', 'shape', [Uint8Array.of(0)], 1011, display('INVALID_MAIN_FUNCTION_SIGNATURE')],
    ['a variant that is not there', 'shape', [Uint8Array.of(7)], 1100, display('FAILED_TO_DESERIALIZE_ARGUMENT')],
    ['too few arguments', 'u64', [], 1011, display('INVALID_MAIN_FUNCTION_SIGNATURE')],
    ['no view mark', 'unmarked', [], 1011, 'function not marked as view function'],
    ['no results', 'nothing', [], 1011, 'view function must return values'],
    ['no such function', 'nowhere', [], 1091, `Function 0x${'42'.padStart(64, '0')}::m::nowhere does not exist`],
    ['no type argument', 'generic', [], 1076, display('NUMBER_OF_TYPE_ARGUMENTS_MISMATCH')],
  ])('with %s are refused', (_, name, args, code, message) => {
    expect(ask(name, ...args).fault).toMatchObject({ code, message })
  })

  it('of public structs need the flag', () => {
    const without = new TestState()
    without.setFeatures((flag) => flag !== 109)
    const read = (key: Uint8Array) => without.read(key) ?? state.read(key)
    expect(callView(vm, { read }, 'm::point', [POINT]).fault?.code).toBe(1011)
  })

  it.each([
    ['0x42::m::Gone', 2021, `Struct 0x${'42'.padStart(64, '0')}::m::Gone does not exist`],
    ['0x7::gone::Gone', 1081, `Linker Error: Module ${'7'.padStart(64, '0')}::gone doesn't exist`],
    ['signer', 1075, display('CONSTRAINT_NOT_SATISFIED')],
  ])('of type argument %s are refused', (text, code, message) => {
    const answer = callView(vm, state, 'm::generic', [new Uint8Array(8)], { typeArguments: [parseTypeTag(text)] })
    expect(answer.fault).toMatchObject({ code, message })
  })
})
