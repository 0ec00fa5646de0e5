import { ByteWriter, bytesToHex, parseAddress } from '@ledger-state/core'
import { bytesToHexDigits, compareBytes, copyBytes } from '@ledger-state/core/bytes'
import type { AssembledFunction, Assembly, AssemblyLine, SignatureToken } from '@ledger-state/move-module'
import { createRandom, testSeed } from '@ledger-state/testing/random'
import { parseStructTag, resourceGroupKey, resourceKey, tableItemKey, writeStructTag } from '@ledger-state/type-tag'
import { describe, expect, it } from 'vitest'
import { BYTE_FORMS, toPooledBuffer } from '../testing/byte-forms.js'
import { callView, TestState } from '../testing/test-state.js'
import { createVm, type ViewState } from './index.js'

// A run changes only values that it owns. Each view below takes a vector<u8> from somewhere (a constant, an argument, a
// resource, a member of a group, an item of a table, a captured value), changes it in place, and returns it. A model
// gives the expected result. The bytes that the host gave must stay as they were, and each later run must answer the
// same.

const U8: SignatureToken = { kind: 'u8' }
const BYTES: SignatureToken = { kind: 'vector', element: U8 }
const U64: SignatureToken = { kind: 'u64' }
const ADDRESS: SignatureToken = { kind: 'address' }
const LISTS: SignatureToken = { kind: 'vector', element: BYTES }
const GIVES_BYTES: SignatureToken = { kind: 'function', parameters: [], results: [BYTES], abilities: 7 }
const mutable = (to: SignatureToken): SignatureToken => ({ kind: 'reference', mutable: true, to })
const SELF = { address: parseAddress('0x42'), name: 'm' }
const framework = (name: string) => ({ address: parseAddress('0x1'), name })
const own = (name: string): SignatureToken => ({ kind: 'struct', module: SELF, name, typeArguments: [] })
const STRING: SignatureToken = { kind: 'struct', module: framework('string'), name: 'String', typeArguments: [] }
const parameter = (index: number): SignatureToken => ({ kind: 'typeParameter', index })
const inTable = (name: string, ...typeArguments: SignatureToken[]): SignatureToken => ({
  kind: 'struct',
  module: framework('table'),
  name,
  typeArguments,
})
const TABLE = inTable('Table', U64, BYTES)
const BOX = inTable('Box', BYTES)
const BORROW_BOX = {
  name: 'borrow_box_mut',
  parameters: [mutable(inTable('Table', parameter(0), parameter(1))), parameter(0)],
  results: [mutable(inTable('Box', parameter(1)))],
  typeParameters: [0, 0, 0],
}

const CONTENT = Uint8Array.of(5, 1, 2, 3, 4)
const HOLDER = '0x77'
const HANDLE = '0x99'
const GROUP = '0x42::m::Group'

/** A way to change a `&mut vector<u8>` on the stack, which it takes. It may use local 2, a reference, and local 3. */
interface Change {
  readonly code: readonly AssemblyLine[]
  model(bytes: number[]): void
}

const loadBytes = (...bytes: number[]): AssemblyLine => [
  'ld_const',
  { type: BYTES, constant: Uint8Array.of(bytes.length, ...bytes) },
]
const loadContent = loadBytes(...CONTENT)
const VECTOR_REFERENCE = mutable({ kind: 'vector', element: parameter(0) })
const moveRange: AssemblyLine = [
  'call_generic',
  {
    module: framework('vector'),
    name: 'move_range',
    parameters: [VECTOR_REFERENCE, U64, U64, VECTOR_REFERENCE, U64],
    typeParameters: [0],
    typeArguments: [U8],
  },
]
const swapValues: AssemblyLine = [
  'call_generic',
  {
    module: framework('mem'),
    name: 'swap',
    parameters: [mutable(parameter(0)), mutable(parameter(0))],
    typeParameters: [0],
    typeArguments: [BYTES],
  },
]

const CHANGES: Readonly<Record<string, Change>> = {
  swap: {
    code: [
      ['ld_u64', 0],
      ['ld_u64', 4],
      ['vec_swap', U8],
    ],
    model: (bytes) => bytes.splice(0, 5, bytes[4]!, ...bytes.slice(1, 4), bytes[0]!),
  },
  push: {
    code: [
      ['ld_u8', 9],
      ['vec_push_back', U8],
    ],
    model: (bytes) => bytes.push(9),
  },
  pop: { code: [['vec_pop_back', U8], ['pop']], model: (bytes) => bytes.pop() },
  pop_push: {
    code: [
      ['st_loc', 2],
      ['copy_loc', 2],
      ['vec_pop_back', U8],
      ['pop'],
      ['move_loc', 2],
      ['ld_u8', 8],
      ['vec_push_back', U8],
    ],
    model: (bytes) => bytes.splice(-1, 1, 8),
  },
  element: {
    code: [['st_loc', 2], ['ld_u8', 7], ['move_loc', 2], ['ld_u64', 3], ['vec_mut_borrow', U8], ['write_ref']],
    model: (bytes) => bytes.splice(3, 1, 7),
  },
  whole: {
    code: [['st_loc', 2], loadBytes(6, 6), ['move_loc', 2], ['write_ref']],
    model: (bytes) => bytes.splice(0, bytes.length, 6, 6),
  },
  exchange: {
    code: [
      loadBytes(6, 4),
      ['st_loc', 3],
      ['mut_borrow_loc', 3],
      swapValues,
      ['mut_borrow_loc', 3],
      ['ld_u64', 0],
      ['ld_u64', 1],
      ['vec_swap', U8],
    ],
    model: (bytes) => bytes.splice(0, bytes.length, 6, 4),
  },
  range_in: {
    code: [
      ['st_loc', 2],
      loadBytes(6, 7, 8),
      ['st_loc', 3],
      ['mut_borrow_loc', 3],
      ['ld_u64', 1],
      ['ld_u64', 2],
      ['move_loc', 2],
      ['ld_u64', 1],
      moveRange,
    ],
    model: (bytes) => bytes.splice(1, 0, 7, 8),
  },
  range_out: {
    code: [
      ['ld_u64', 1],
      ['ld_u64', 2],
      loadBytes(6, 7, 8),
      ['st_loc', 3],
      ['mut_borrow_loc', 3],
      ['ld_u64', 0],
      moveRange,
    ],
    model: (bytes) => bytes.splice(1, 2),
  },
}

/** A place that holds `CONTENT`, which a view changes. Locals 0 and 1 are its own; a parameter is local 0. */
interface Source {
  readonly parameter?: SignatureToken
  readonly locals?: readonly [SignatureToken, SignatureToken]
  readonly prepare?: readonly AssemblyLine[]
  /** Pushes the `&mut vector<u8>`. */
  readonly borrow: readonly AssemblyLine[]
  /** Pushes the value that must not have changed: a vector<u8> that is `CONTENT`. */
  readonly unchanged?: readonly AssemblyLine[]
  /** Bytes that the place holds, if it is not `CONTENT`. */
  readonly content?: Uint8Array
}

const loadAddress: AssemblyLine = ['ld_const', { type: ADDRESS, constant: parseAddress(HOLDER) }]
const LIST_CONSTANT = Uint8Array.of(2, 1, 0, CONTENT.length, ...CONTENT)
const loadList: AssemblyLine = ['ld_const', { type: LISTS, constant: LIST_CONSTANT }]
const second: readonly AssemblyLine[] = [
  ['ld_u64', 1],
  ['vec_mut_borrow', BYTES],
]

const SOURCES: Readonly<Record<string, Source>> = {
  constant: { locals: [BYTES, U8], prepare: [loadContent, ['st_loc', 0]], borrow: [['mut_borrow_loc', 0]] },
  constant_list: {
    locals: [LISTS, U8],
    prepare: [loadList, ['st_loc', 0]],
    borrow: [['mut_borrow_loc', 0], ...second],
    unchanged: [loadList, ['st_loc', 0], ['mut_borrow_loc', 0], ...second, ['read_ref']],
  },
  argument: { parameter: BYTES, borrow: [['mut_borrow_loc', 0]] },
  argument_list: { parameter: LISTS, borrow: [['mut_borrow_loc', 0], ...second] },
  argument_text: {
    parameter: STRING,
    borrow: [
      ['mut_borrow_loc', 0],
      [
        'call',
        { module: framework('string'), name: 'bytes_mut', parameters: [mutable(STRING)], results: [mutable(BYTES)] },
      ],
    ],
  },
  local_copy: {
    locals: [BYTES, BYTES],
    prepare: [loadContent, ['st_loc', 1], ['copy_loc', 1], ['st_loc', 0]],
    borrow: [['mut_borrow_loc', 0]],
    unchanged: [['move_loc', 1]],
  },
  list_copy: {
    locals: [LISTS, LISTS],
    prepare: [loadList, ['st_loc', 1], ['imm_borrow_loc', 1], ['read_ref'], ['st_loc', 0]],
    borrow: [['mut_borrow_loc', 0], ...second],
    unchanged: [['mut_borrow_loc', 1], ...second, ['read_ref']],
  },
  struct_copy: {
    locals: [own('Pair'), own('Pair')],
    prepare: [loadContent, loadList, ['pack', 'Pair'], ['st_loc', 1], ['copy_loc', 1], ['st_loc', 0]],
    borrow: [
      ['mut_borrow_loc', 0],
      ['mut_borrow_field', 'Pair.bytes'],
    ],
    unchanged: [['mut_borrow_loc', 1], ['mut_borrow_field', 'Pair.bytes'], ['read_ref']],
  },
  serialized: {
    locals: [BYTES, BYTES],
    prepare: [
      loadContent,
      ['st_loc', 1],
      ['imm_borrow_loc', 1],
      [
        'call_generic',
        {
          module: framework('bcs'),
          name: 'to_bytes',
          parameters: [{ kind: 'reference', mutable: false, to: parameter(0) }],
          results: [BYTES],
          typeParameters: [0],
          typeArguments: [BYTES],
        },
      ],
      ['st_loc', 0],
    ],
    borrow: [['mut_borrow_loc', 0]],
    unchanged: [['move_loc', 1]],
    content: Uint8Array.of(CONTENT.length, ...CONTENT),
  },
  deserialized: {
    locals: [BYTES, BYTES],
    prepare: [
      loadBytes(CONTENT.length, ...CONTENT),
      [
        'call_generic',
        {
          module: framework('util'),
          name: 'from_bytes',
          parameters: [BYTES],
          results: [parameter(0)],
          typeParameters: [0],
          typeArguments: [BYTES],
        },
      ],
      ['st_loc', 0],
    ],
    borrow: [['mut_borrow_loc', 0]],
  },
  part_of_text: {
    locals: [BYTES, BYTES],
    prepare: [
      loadContent,
      ['st_loc', 1],
      ['imm_borrow_loc', 1],
      ['ld_u64', 0],
      ['ld_u64', CONTENT.length],
      [
        'call',
        {
          module: framework('string'),
          name: 'internal_sub_string',
          parameters: [{ kind: 'reference', mutable: false, to: BYTES }, U64, U64],
          results: [BYTES],
        },
      ],
      ['st_loc', 0],
    ],
    borrow: [['mut_borrow_loc', 0]],
    unchanged: [['move_loc', 1]],
  },
  resource: { borrow: [loadAddress, ['mut_borrow_global', 'Pair'], ['mut_borrow_field', 'Pair.bytes']] },
  resource_list: {
    borrow: [loadAddress, ['mut_borrow_global', 'Pair'], ['mut_borrow_field', 'Pair.list'], ...second],
  },
  taken_resource: {
    locals: [own('Pair'), U8],
    prepare: [loadAddress, ['move_from', 'Pair'], ['st_loc', 0]],
    borrow: [
      ['mut_borrow_loc', 0],
      ['mut_borrow_field', 'Pair.bytes'],
    ],
  },
  copied_resource: {
    locals: [own('Pair'), U8],
    prepare: [loadAddress, ['imm_borrow_global', 'Pair'], ['read_ref'], ['st_loc', 0]],
    borrow: [
      ['mut_borrow_loc', 0],
      ['mut_borrow_field', 'Pair.bytes'],
    ],
    unchanged: [loadAddress, ['imm_borrow_global', 'Pair'], ['imm_borrow_field', 'Pair.bytes'], ['read_ref']],
  },
  member: { borrow: [loadAddress, ['mut_borrow_global', 'Member'], ['mut_borrow_field', 'Member.bytes']] },
  item: {
    locals: [TABLE, U8],
    prepare: [
      ['call', { module: framework('table'), name: 'make', results: [TABLE] }],
      ['st_loc', 0],
    ],
    borrow: [
      ['mut_borrow_loc', 0],
      ['ld_u64', 1],
      ['call_generic', { ...BORROW_BOX, module: framework('table'), typeArguments: [U64, BYTES, BOX] }],
      ['call', { module: framework('table'), name: 'unbox', parameters: [mutable(BOX)], results: [mutable(BYTES)] }],
    ],
  },
}

interface ModelView {
  readonly name: string
  readonly argument?: SignatureToken | undefined
  /** The BCS of its results. */
  readonly expected: readonly string[]
}

const functions: AssembledFunction[] = []
const views: ModelView[] = []

for (const [change, { code, model }] of Object.entries(CHANGES)) {
  const changed = (content: Uint8Array) => {
    const bytes = [...content]
    model(bytes)
    return hexOf(bytes)
  }
  for (const [source, { parameter, locals = [U8, U8], prepare = [], borrow, unchanged, content }] of Object.entries(
    SOURCES,
  )) {
    const name = `${source}_${change}`
    functions.push({
      name,
      parameters: parameter ? [parameter] : [],
      results: [BYTES, BYTES],
      locals: [...(parameter ? [] : [locals[0]]), locals[1], mutable(BYTES), BYTES],
      code: [...prepare, ...borrow, ...code, ...borrow, ['read_ref'], ...(unchanged ?? [loadContent]), ['ret']],
    })
    views.push({ name, argument: parameter, expected: [changed(content ?? CONTENT), hexOf(CONTENT)] })
  }
  // Each call of a closure changes a captured value of its own.
  functions.push({
    name: `change_${change}`,
    isView: false,
    attributes: [1],
    parameters: [BYTES],
    results: [BYTES],
    locals: [U8, mutable(BYTES), BYTES],
    code: [['mut_borrow_loc', 0], ...code, ['move_loc', 0], ['ret']],
  })
  const twice: readonly AssemblyLine[] = [
    ['copy_loc', 0],
    ['call_closure', GIVES_BYTES],
    ['move_loc', 0],
    ['call_closure', GIVES_BYTES],
    ['ret'],
  ]
  const packed: readonly AssemblyLine[] = [
    loadContent,
    ['pack_closure', { name: `change_${change}` }, 1],
    ['st_loc', 0],
  ]
  const stored: readonly AssemblyLine[] = [
    loadAddress,
    ['imm_borrow_global', `Stored_${change}`],
    ['imm_borrow_field', `Stored_${change}.f`],
    ['read_ref'],
    ['st_loc', 0],
  ]
  for (const [source, load] of Object.entries({ captured: packed, stored_closure: stored })) {
    const name = `${source}_${change}`
    functions.push({ name, results: [BYTES, BYTES], locals: [GIVES_BYTES], code: [...load, ...twice] })
    views.push({ name, expected: [changed(CONTENT), changed(CONTENT)] })
  }
}

function hexOf(bytes: Iterable<number>): string {
  return bytesToHex(new ByteWriter().byteString(Uint8Array.from(bytes)).toBytes())
}

const PAIR_FIELDS = [
  ['bytes', BYTES],
  ['list', LISTS],
] as const
const MODULES: readonly Assembly[] = [
  {
    name: 'm',
    structs: [
      { name: 'Pair', fields: PAIR_FIELDS },
      { name: 'Member', group: GROUP, fields: [['bytes', BYTES]] },
      ...Object.keys(CHANGES).map((change) => ({ name: `Stored_${change}`, fields: [['f', GIVES_BYTES]] as const })),
    ],
    functions,
  },
  {
    address: '0x1',
    name: 'string',
    structs: [{ name: 'String', fields: [['bytes', BYTES]] }],
    functions: [
      {
        name: 'bytes_mut',
        parameters: [mutable(STRING)],
        results: [mutable(BYTES)],
        isView: false,
        code: [['move_loc', 0], ['mut_borrow_field', 'String.bytes'], ['ret']],
      },
      {
        name: 'internal_sub_string',
        isNative: true,
        isView: false,
        parameters: [{ kind: 'reference', mutable: false, to: BYTES }, U64, U64],
        results: [BYTES],
      },
    ],
  },
  {
    address: '0x1',
    name: 'table',
    structs: [
      { name: 'Table', typeParameters: [0, 0], fields: [['handle', ADDRESS]] },
      { name: 'Box', typeParameters: [0], fields: [['value', parameter(0)]] },
    ],
    functions: [
      {
        name: 'make',
        results: [TABLE],
        isView: false,
        code: [['ld_const', { type: ADDRESS, constant: parseAddress(HANDLE) }], ['pack_generic', TABLE], ['ret']],
      },
      {
        name: 'unbox',
        parameters: [mutable(BOX)],
        results: [mutable(BYTES)],
        isView: false,
        code: [['move_loc', 0], ['mut_borrow_field_generic', { field: 'Box.value', typeArguments: [BYTES] }], ['ret']],
      },
      { ...BORROW_BOX, isNative: true, isView: false },
    ],
  },
  native('vector', 'move_range', [VECTOR_REFERENCE, U64, U64, VECTOR_REFERENCE, U64], []),
  native('mem', 'swap', [mutable(parameter(0)), mutable(parameter(0))], []),
  native('bcs', 'to_bytes', [{ kind: 'reference', mutable: false, to: parameter(0) }], [BYTES]),
  native('util', 'from_bytes', [BYTES], [parameter(0)]),
]

function native(module: string, name: string, parameters: SignatureToken[], results: SignatureToken[]): Assembly {
  const one = { name, parameters, results, typeParameters: [0], isNative: true, isView: false }
  return { address: '0x1', name: module, functions: [one] }
}

/** A state that gives its values in one form and knows whether any of them was changed. */
class WatchedState implements ViewState {
  readonly #given = new Map<string, readonly [given: Uint8Array, before: Uint8Array]>()

  constructor(form: (bytes: Uint8Array) => Uint8Array) {
    const state = new TestState(MODULES)
    const put = (key: Uint8Array, value: Uint8Array) => state.set(key, value)
    const holder = parseAddress(HOLDER)
    const bytes = new ByteWriter().byteString(CONTENT).toBytes()
    put(
      resourceKey(holder, parseStructTag('0x42::m::Pair')),
      new ByteWriter().bytes(bytes).bytes(LIST_CONSTANT).toBytes(),
    )
    const member = new ByteWriter().uleb128(1)
    writeStructTag(member, parseStructTag('0x42::m::Member'))
    put(resourceGroupKey(holder, parseStructTag(GROUP)), member.byteString(bytes).toBytes())
    put(tableItemKey(parseAddress(HANDLE), new ByteWriter().u64(1n).toBytes()), bytes)
    for (const change of Object.keys(CHANGES)) {
      const closure = new ByteWriter().uleb128(7).u16(1).bytes(SELF.address).string('m').string(`change_${change}`)
      closure.uleb128(0).u64(1n).u8(5).u8(1).bytes(bytes)
      put(resourceKey(holder, parseStructTag(`0x42::m::Stored_${change}`)), closure.toBytes())
    }
    this.read = (key) => {
      const name = bytesToHexDigits(key)
      const known = this.#given.get(name)
      if (known) return known[0]
      const value = state.read(key)
      if (!value) return undefined
      const given = form(value)
      this.#given.set(name, [given, value])
      return given
    }
  }

  readonly read: (key: Uint8Array) => Uint8Array | undefined

  /** Keys of values that are not as they were. */
  changedKeys(): string[] {
    return [...this.#given].filter(([, [given, before]]) => compareBytes(given, before) !== 0).map(([key]) => key)
  }
}

function argumentOf(type: SignatureToken | undefined): readonly Uint8Array[] {
  if (!type) return []
  return [type === LISTS ? LIST_CONSTANT : new ByteWriter().byteString(CONTENT).toBytes()]
}

describe('a run over values that are given as', () => {
  it.each(Object.entries(BYTE_FORMS))('%s changes only values that it owns', (_, form) => {
    const seed = testSeed()
    const random = createRandom(seed)
    const state = new WatchedState(form)
    const vm = createVm()
    for (let round = 0; round < 4; round++) {
      for (const { name, argument, expected } of random.shuffled(views)) {
        const args = argumentOf(argument)
        const given = args.map(form)
        const { results, fault } = callView(vm, state, `m::${name}`, given)
        const context = `${name}, round ${round}, TEST_SEED=${seed}`
        expect(fault, context).toBeUndefined()
        expect(results!.map(bytesToHex), context).toEqual(expected)
        expect(
          given.map((one) => copyBytes(one)),
          context,
        ).toEqual(args)
        expect(state.changedKeys(), context).toEqual([])
      }
    }
  })

  // The values of a state are valid during a run; a vm must not depend on them afterwards.
  it('memory that is used again after each run is not read any more', () => {
    const state = new WatchedState(toPooledBuffer)
    const vm = createVm()
    for (const { name, argument, expected } of views) {
      const lent: Uint8Array[] = []
      const lend = (value: Uint8Array): Uint8Array => {
        const given = toPooledBuffer(value)
        lent.push(given)
        return given
      }
      const lending: ViewState = {
        read: (key) => {
          const value = state.read(key)
          return value && lend(value)
        },
      }
      const { results } = callView(vm, lending, `m::${name}`, argumentOf(argument).map(lend))
      expect(results?.map(bytesToHex), name).toEqual(expected)
      for (const bytes of lent) bytes.fill(0xee)
    }
  })
})
