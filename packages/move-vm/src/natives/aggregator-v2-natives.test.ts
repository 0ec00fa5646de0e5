import { ByteWriter, bytesToHex, parseAddress } from '@ledger-state/core'
import type { AssembledFunction, Assembly, SignatureToken } from '@ledger-state/move-module'
import { parseStructTag, resourceGroupKey, writeStructTag } from '@ledger-state/type-tag'
import { describe, expect, it } from 'vitest'
import { BYTE_FORMS } from '../../testing/byte-forms.js'
import { callView, TestState } from '../../testing/test-state.js'
import { createVm } from '../index.js'

// Tokens as their modules of 2023 wrote them: the name is an `AggregatorSnapshot<String>`. Later modules wrote a
// `DerivedStringSnapshot`, a text and padding.

const GROUP = '0x1::object::ObjectGroup'
const TOKEN = parseAddress('0x70c')
const U64: SignatureToken = { kind: 'u64' }
const ADDRESS: SignatureToken = { kind: 'address' }
const BYTES: SignatureToken = { kind: 'vector', element: { kind: 'u8' } }
const I: SignatureToken = { kind: 'typeParameter', index: 0 }
const aggregatorModule = { address: parseAddress('0x1'), name: 'aggregator_v2' }
const STRING: SignatureToken = {
  kind: 'struct',
  module: { address: parseAddress('0x1'), name: 'string' },
  name: 'String',
  typeArguments: [],
}
const snapshotOf = (element: SignatureToken): SignatureToken => ({
  kind: 'struct',
  module: aggregatorModule,
  name: 'AggregatorSnapshot',
  typeArguments: [element],
})
const DERIVED: SignatureToken = {
  kind: 'struct',
  module: aggregatorModule,
  name: 'DerivedStringSnapshot',
  typeArguments: [],
}
const shared = (to: SignatureToken): SignatureToken => ({ kind: 'reference', mutable: false, to })

const nativeOf = (
  name: string,
  parameters: readonly SignatureToken[],
  results: readonly SignatureToken[],
  typeParameters: readonly number[] = [0],
) => ({ name, parameters, results, typeParameters, isNative: true, isView: false })

const NATIVES = {
  read_snapshot: nativeOf('read_snapshot', [shared(snapshotOf(I))], [I]),
  copy_snapshot: nativeOf('copy_snapshot', [shared(snapshotOf(I))], [snapshotOf(I)]),
  string_concat: nativeOf('string_concat', [STRING, shared(snapshotOf(I)), STRING], [snapshotOf(STRING)]),
  derive_string_concat: nativeOf('derive_string_concat', [STRING, shared(snapshotOf(I)), STRING], [DERIVED]),
  create_snapshot: nativeOf('create_snapshot', [I], [snapshotOf(I)]),
  read_derived_string: nativeOf('read_derived_string', [shared(DERIVED)], [STRING], []),
}

/** A view over a field of a stored token: calls a native with a reference to it. */
function view(
  name: string,
  native: keyof typeof NATIVES,
  field: 'index' | 'name' | 'derived',
  results: readonly SignatureToken[],
  element?: SignatureToken,
): AssembledFunction {
  const { name: callee, parameters, results: declared, typeParameters } = NATIVES[native]
  const called = { module: aggregatorModule, name: callee, parameters, results: declared, typeParameters }
  const isConcat = native.endsWith('concat')
  return {
    name,
    parameters: [ADDRESS, ...(isConcat ? [STRING, STRING] : [])],
    results,
    code: [
      ...(isConcat ? [['move_loc', 1] as const] : []),
      ['move_loc', 0],
      ['imm_borrow_global', 'TokenIdentifiers'],
      ['imm_borrow_field', `TokenIdentifiers.${field}`],
      ...(isConcat ? [['move_loc', 2] as const] : []),
      element ? ['call_generic', { ...called, typeArguments: [element] }] : ['call', called],
      ['ret'],
    ],
  }
}

const MODULES: readonly Assembly[] = [
  {
    address: '0x1',
    name: 'aggregator_v2',
    structs: [
      { name: 'AggregatorSnapshot', typeParameters: [0], fields: [['value', I]] },
      {
        name: 'DerivedStringSnapshot',
        fields: [
          ['value', STRING],
          ['padding', BYTES],
        ],
      },
    ],
    functions: Object.values(NATIVES),
  },
  { address: '0x1', name: 'string', structs: [{ name: 'String', fields: [['bytes', BYTES]] }], functions: [] },
  {
    name: 'token',
    structs: [
      {
        name: 'TokenIdentifiers',
        group: GROUP,
        fields: [
          ['index', snapshotOf(U64)],
          ['name', snapshotOf(STRING)],
          ['derived', DERIVED],
        ],
      },
    ],
    functions: [
      view('name', 'read_snapshot', 'name', [STRING], STRING),
      view('index', 'read_snapshot', 'index', [U64], U64),
      view('derived', 'read_derived_string', 'derived', [STRING]),
      view('copy_name', 'copy_snapshot', 'name', [snapshotOf(STRING)], STRING),
      view('copy_index', 'copy_snapshot', 'index', [snapshotOf(U64)], U64),
      view('concat_index', 'string_concat', 'index', [snapshotOf(STRING)], U64),
      view('concat_name', 'string_concat', 'name', [snapshotOf(STRING)], STRING),
      view('derive_index', 'derive_string_concat', 'index', [DERIVED], U64),
      view('derive_name', 'derive_string_concat', 'name', [DERIVED], STRING),
      {
        name: 'make',
        parameters: [STRING],
        results: [snapshotOf(STRING)],
        code: [
          ['move_loc', 0],
          [
            'call_generic',
            {
              module: aggregatorModule,
              ...NATIVES.create_snapshot,
              typeArguments: [STRING],
            },
          ],
          ['ret'],
        ],
      },
    ],
  },
]

const text = (value: string) => new ByteWriter().string(value).toBytes()
const NAMES = ['', 'Token #7', 'é€ — 名前', 'x'.repeat(200)]

function stateWith(name: string, form: (bytes: Uint8Array) => Uint8Array): TestState {
  const state = new TestState(MODULES)
  const value = new ByteWriter().u64(7n).string(name).string(name).byteString(new Uint8Array(12)).toBytes()
  const group = new ByteWriter().uleb128(1)
  writeStructTag(group, parseStructTag('0x42::token::TokenIdentifiers'))
  const bytes = group.byteString(value).toBytes()
  state.set(resourceGroupKey(TOKEN, parseStructTag(GROUP)), form(bytes))
  return state
}

describe('snapshots as old modules stored them', () => {
  it.each(NAMES)('are read, each time, with the text %o', (name) => {
    for (const form of Object.values(BYTE_FORMS)) {
      const state = stateWith(name, form)
      const vm = createVm()
      for (let round = 0; round < 3; round++) {
        const read = (one: string) => callView(vm, state, `token::${one}`, [TOKEN]).results?.map(bytesToHex)
        expect(read('name')).toEqual([bytesToHex(text(name))])
        expect(read('derived')).toEqual([bytesToHex(text(name))])
        expect(read('index')).toEqual(['0x0700000000000000'])
      }
    }
  })

  // The framework's own declarations say that these always abort, whatever the snapshot holds.
  it('are not copied, joined or made again, as the framework says', () => {
    const state = stateWith('Token #7', (bytes) => bytes)
    const vm = createVm()
    const call = (name: string, ...args: Uint8Array[]) => callView(vm, state, `token::${name}`, args)
    const ends = [text('a'), text('b')]
    for (const name of ['copy_name', 'copy_index']) {
      expect(call(name, TOKEN).fault, name).toMatchObject({ name: 'ABORTED', subStatus: 0x30009n })
    }
    for (const name of ['concat_index', 'concat_name']) {
      expect(call(name, TOKEN, ...ends).fault, name).toMatchObject({ name: 'ABORTED', subStatus: 0x30009n })
    }
    expect(call('derive_name', TOKEN, ...ends).fault).toMatchObject({ name: 'ABORTED', subStatus: 0x30005n })
    expect(call('make', text('a')).fault).toMatchObject({ name: 'ABORTED', subStatus: 0x30005n })
    const derived = new ByteWriter().string('a7b').byteString(new Uint8Array(19)).toBytes()
    expect(call('derive_index', TOKEN, ...ends).results?.map(bytesToHex)).toEqual([bytesToHex(derived)])
  })
})
