import { ByteWriter } from '@ledger-state/core'
import type { AssembledFunction, AssembledStruct, AssemblyLine, SignatureToken } from '@ledger-state/move-module'
import { describe, expect, it } from 'vitest'
import { callView, TestState } from '../../testing/test-state.js'
import { createVm } from '../index.js'

// Code that a verifier refuses because a reference outlives its target, or is in the place of a value. No such
// reference may show a value of another type.

const U64: SignatureToken = { kind: 'u64' }
const BOOL: SignatureToken = { kind: 'bool' }
const NUMBERS: SignatureToken = { kind: 'vector', element: U64 }
const T: SignatureToken = { kind: 'typeParameter', index: 0 }
const reference = (to: SignatureToken): SignatureToken => ({ kind: 'reference', mutable: true, to })
const R = reference(U64)

/** Returns a reference to its own local. */
const LEAK: AssembledFunction = {
  name: 'leak',
  results: [R],
  locals: [U64],
  isView: false,
  code: [['ld_u64', 7], ['st_loc', 0], ['mut_borrow_loc', 0], ['ret']],
}
/** Adds 1 to the target of a reference; its first parameter lies where the leaked local lay. */
const ADD: AssembledFunction = {
  name: 'add_one',
  parameters: [BOOL, R],
  results: [U64],
  isView: false,
  code: [['move_loc', 1], ['read_ref'], ['ld_u64', 1], ['add'], ['ret']],
}
/** As `add_one`, but borrows a local. */
const ADD_BORROWING: AssembledFunction = {
  ...ADD,
  name: 'add_borrowing',
  code: [['mut_borrow_loc', 0], ['pop'], ...ADD.code!],
}
/** Writes through a reference, and negates its first parameter, which lies where the leaked local lay. */
const WRITE: AssembledFunction = {
  name: 'write',
  parameters: [BOOL, R],
  results: [BOOL],
  isView: false,
  code: [['ld_u64', 5], ['move_loc', 1], ['write_ref'], ['move_loc', 0], ['not'], ['ret']],
}

function answerTo(functions: readonly AssembledFunction[], structs: readonly AssembledStruct[] = []) {
  const state = new TestState([{ name: 'm', functions, structs }])
  const vm = createVm()
  const answers = [1, 2, 3].map(() => callView(vm, state, 'm::f'))
  expect(answers[1]).toEqual(answers[0])
  expect(answers[2]).toEqual(answers[0])
  return answers[0]!
}

const viewOf = (
  code: readonly AssemblyLine[],
  locals: readonly SignatureToken[],
  result: SignatureToken = U64,
): AssembledFunction => ({
  name: 'f',
  results: [result],
  locals,
  code: [...code, ['ret']],
})

describe('a reference that outlives its frame', () => {
  it.each([
    ['read', ADD, U64],
    ['read where locals are borrowed', ADD_BORROWING, U64],
    ['written', WRITE, BOOL],
  ])('is %s in no other frame', (_, callee, result) => {
    const view = viewOf(
      [['call', { name: 'leak' }], ['st_loc', 0], ['ld_true'], ['move_loc', 0], ['call', { name: callee.name }]],
      [R],
      result,
    )
    expect(answerTo([LEAK, callee, view]).fault).toMatchObject({ code: 2006 })
  })

  it('is a fault at once, in recursion, and in the frame of the same function', () => {
    const read = viewOf([['call', { name: 'leak' }], ['read_ref']], [])
    expect(answerTo([LEAK, read]).fault).toMatchObject({ code: 2006 })
    const again = viewOf(
      [['call', { name: 'leak' }], ['call', { name: 'leak' }], ['read_ref'], ['st_loc', 0], ['read_ref']],
      [U64],
    )
    expect(answerTo([LEAK, again]).fault).toMatchObject({ code: 2006 })
  })
})

describe('a reference that a function returns', () => {
  const pair: AssembledStruct = {
    name: 'Pair',
    fields: [
      ['a', U64],
      ['list', NUMBERS],
    ],
  }
  const shape: AssembledStruct = {
    name: 'Shape',
    variants: [
      { name: 'Some', fields: [['a', U64]] },
      { name: 'None', fields: [] },
    ],
  }
  const own = (name: string): SignatureToken => ({
    kind: 'struct',
    module: { address: Uint8Array.from({ length: 32 }, (_, at) => (at === 31 ? 0x42 : 0)), name: 'm' },
    name,
    typeArguments: [],
  })
  const list: AssemblyLine = ['ld_const', { type: NUMBERS, constant: new ByteWriter().uleb128(1).u64(3n).toBytes() }]
  const BYTES = { kind: 'vector', element: { kind: 'u8' } } as const
  const same: AssembledFunction = {
    name: 'same',
    parameters: [R],
    results: [R],
    isView: false,
    code: [['move_loc', 0], ['ret']],
  }
  const intoPair: readonly AssemblyLine[] = [
    ['ld_u64', 1],
    list,
    ['pack', 'Pair'],
    ['st_loc', 0],
    ['mut_borrow_loc', 0],
  ]

  it.each<[string, SignatureToken, SignatureToken, readonly AssemblyLine[]]>([
    ['a field of a local', own('Pair'), U64, [...intoPair, ['mut_borrow_field', 'Pair.a']]],
    [
      'an element of a field of a local',
      own('Pair'),
      U64,
      [...intoPair, ['mut_borrow_field', 'Pair.list'], ['ld_u64', 0], ['vec_mut_borrow', U64]],
    ],
    [
      'a field of a variant in a local',
      own('Shape'),
      U64,
      [
        ['ld_u64', 1],
        ['pack_variant', 'Shape::Some'],
        ['st_loc', 0],
        ['mut_borrow_loc', 0],
        ['mut_borrow_variant_field', 'Shape::Some.a'],
      ],
    ],
    [
      'a byte of a local',
      BYTES,
      { kind: 'u8' },
      [
        ['ld_const', { type: BYTES, constant: Uint8Array.of(1, 5) }],
        ['st_loc', 0],
        ['mut_borrow_loc', 0],
        ['ld_u64', 0],
        ['vec_mut_borrow', { kind: 'u8' }],
      ],
    ],
    [
      'a local lent to another function',
      U64,
      U64,
      [
        ['ld_u64', 1],
        ['st_loc', 0],
        ['mut_borrow_loc', 0],
        ['call', { name: 'same' }],
      ],
    ],
    [
      'a local borrowed on one of two paths',
      U64,
      U64,
      [
        ['ld_u64', 1],
        ['st_loc', 0],
        ['mut_borrow_loc', 0],
        ['st_loc', 1],
        ['ld_true'],
        ['br_true', 'end'],
        ['nop'],
        { label: 'end' },
        ['move_loc', 1],
      ],
    ],
  ])('does not point at %s', (_, local, result, code) => {
    const lend: AssembledFunction = {
      name: 'lend',
      results: [reference(result)],
      locals: [local, reference(result)],
      isView: false,
      code: [...code, ['ret']],
    }
    const view = viewOf([['call', { name: 'lend' }], ['read_ref']], [], result)
    expect(answerTo([same, lend, view], [pair, shape]).fault).toMatchObject({ code: 2006 })
  })

  it('may point at values that the function borrowed, together with references to its locals', () => {
    const choose: AssembledFunction = {
      name: 'choose',
      parameters: [R],
      results: [R],
      locals: [U64],
      isView: false,
      code: [['ld_u64', 3], ['st_loc', 1], ['mut_borrow_loc', 1], ['pop'], ['move_loc', 0], ['ret']],
    }
    const view = viewOf(
      [
        ['ld_u64', 9],
        ['st_loc', 0],
        ['mut_borrow_loc', 0],
        ['call', { name: 'choose' }],
        ['call', { name: 'same' }],
        ['read_ref'],
      ],
      [U64],
    )
    expect(answerTo([same, choose, view]).results).toEqual([new ByteWriter().u64(9n).toBytes()])
  })
})

describe('a reference in the place of a value is refused', () => {
  const holder: AssembledStruct = { name: 'Holder', fields: [['r', R]] }
  const box: AssembledStruct = { name: 'Box', typeParameters: [0], fields: [['value', T]] }
  const keep: AssembledFunction = {
    name: 'keep',
    parameters: [T],
    results: [{ kind: 'vector', element: T }],
    typeParameters: [0],
    isView: false,
    code: [['move_loc', 0], ['vec_pack', T, 1], ['ret']],
  }
  const boxOf: SignatureToken = {
    kind: 'struct',
    module: { address: Uint8Array.from({ length: 32 }, (_, at) => (at === 31 ? 0x42 : 0)), name: 'm' },
    name: 'Box',
    typeArguments: [R],
  }
  const local: readonly AssemblyLine[] = [
    ['ld_u64', 1],
    ['st_loc', 0],
    ['mut_borrow_loc', 0],
  ]

  it.each<[string, AssembledFunction]>([
    ['in a field', viewOf([...local, ['pack', 'Holder'], ['pop'], ['ld_u64', 1]], [U64])],
    ['as a type argument of a struct', viewOf([...local, ['pack_generic', boxOf], ['pop'], ['ld_u64', 1]], [U64])],
    [
      'as a type argument of a function',
      viewOf([...local, ['call_generic', { name: 'keep', typeArguments: [R] }], ['pop'], ['ld_u64', 1]], [U64]),
    ],
    ['in a vector', viewOf([...local, ['vec_pack', R, 1], ['pop'], ['ld_u64', 1]], [U64])],
    [
      'in a closure',
      viewOf(
        [...local, ['pack_closure_generic', { name: 'keep', typeArguments: [R] }, 1], ['pop'], ['ld_u64', 1]],
        [U64],
      ),
    ],
  ])('%s', (_, view) => {
    expect(answerTo([keep, view], [holder, box]).fault).toMatchObject({ code: 2006 })
  })
})

describe('a reference to an element that is gone', () => {
  const native = {
    name: 'swap',
    parameters: [reference(T), reference(T)],
    results: [],
    typeParameters: [0],
    isNative: true,
    isView: false,
  }
  const mem = { address: Uint8Array.from({ length: 32 }, (_, at) => (at === 31 ? 1 : 0)), name: 'mem' }
  const swap: AssemblyLine = ['call_generic', { module: mem, ...native, typeArguments: [U64] }]

  it('is a fault for natives, too', () => {
    const constant = new ByteWriter().uleb128(1).u64(3n).toBytes()
    const view = viewOf(
      [
        ['ld_const', { type: NUMBERS, constant }],
        ['st_loc', 0],
        ['mut_borrow_loc', 0],
        ['ld_u64', 0],
        ['vec_mut_borrow', U64],
        ['mut_borrow_loc', 0],
        ['vec_pop_back', U64],
        ['st_loc', 1],
        ['mut_borrow_loc', 1],
        swap,
        ['move_loc', 1],
      ],
      [NUMBERS, U64],
    )
    const state = new TestState([
      { name: 'm', functions: [view] },
      { address: '0x1', name: 'mem', functions: [native] },
    ])
    expect(callView(createVm(), state, 'm::f').fault).toMatchObject({ code: 2006 })
  })
})
