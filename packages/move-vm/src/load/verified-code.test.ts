import { parseAddress } from '@ledger-state/core'
import {
  ABILITY,
  type AssembledFunction,
  type AssembledStruct,
  type AssemblyLine,
  assembleModule,
  type SignatureToken,
} from '@ledger-state/move-module'
import { describe, expect, it } from 'vitest'
import { loadModule } from '../../testing/load-module.js'
import { callView, TestState } from '../../testing/test-state.js'
import { createVm } from '../index.js'

// For each rule, a function that breaks it and one that does not.

const U64: SignatureToken = { kind: 'u64' }
const U8: SignatureToken = { kind: 'u8' }
const BOOL: SignatureToken = { kind: 'bool' }
const ADDRESS: SignatureToken = { kind: 'address' }
const NUMBERS: SignatureToken = { kind: 'vector', element: U64 }
const T: SignatureToken = { kind: 'typeParameter', index: 0 }
const SELF = { address: parseAddress('0x42'), name: 'm' }
const struct = (name: string, ...typeArguments: SignatureToken[]): SignatureToken => ({
  kind: 'struct',
  module: SELF,
  name,
  typeArguments,
})
const mutable = (to: SignatureToken): SignatureToken => ({ kind: 'reference', mutable: true, to })
const immutable = (to: SignatureToken): SignatureToken => ({ kind: 'reference', mutable: false, to })
const closure = (abilities: number): SignatureToken => ({ kind: 'function', parameters: [], results: [U64], abilities })
const { copy, drop, store, key } = ABILITY

const STRUCTS: readonly AssembledStruct[] = [
  {
    name: 'Pair',
    abilities: copy | drop | store,
    fields: [
      ['a', U64],
      ['b', U64],
    ],
  },
  { name: 'Coin', abilities: store, fields: [['value', U64]] },
  { name: 'Stored', abilities: key, fields: [['value', U64]] },
  { name: 'Plain', abilities: copy | drop | store, fields: [['value', U64]] },
  { name: 'Box', abilities: copy | drop | store, typeParameters: [0], fields: [['value', T]] },
  {
    name: 'Phantom',
    abilities: copy | drop | store,
    typeParameters: [{ constraints: 0, phantom: true }],
    fields: [['value', U64]],
  },
  {
    name: 'Choice',
    abilities: copy | drop | store,
    variants: [
      { name: 'Number', fields: [['x', U64]] },
      {
        name: 'Two',
        fields: [
          ['x', U64],
          ['y', U64],
        ],
      },
    ],
  },
]
const PAIR = struct('Pair')
const COIN = struct('Coin')
const STORED = struct('Stored')

const HELPERS: readonly AssembledFunction[] = [
  { name: 'same', parameters: [mutable(U64)], results: [mutable(U64)], code: [['move_loc', 0], ['ret']] },
  { name: 'two', parameters: [mutable(U64), mutable(U64)], code: [['ret']] },
  { name: 'droppable', typeParameters: [drop], code: [['ret']] },
  { name: 'one', results: [U64], code: [['ld_u64', 1], ['ret']] },
  { name: 'lasting_one', attributes: [1], results: [U64], code: [['ld_u64', 1], ['ret']] },
  {
    name: 'take',
    parameters: [ADDRESS],
    results: [STORED],
    code: [['move_loc', 0], ['move_from', 'Stored'], ['ret']],
  },
]

type Function = Omit<AssembledFunction, 'name'>

/** Why a function is refused; undefined if it is not. */
function refusalOf(tested: Function): string | undefined {
  const functions = [...HELPERS, { ...tested, name: 'tested' }]
  const loaded = loadModule(assembleModule({ name: 'm', structs: STRUCTS, functions }))
  return typeof loaded === 'string' ? loaded : undefined
}

const repeat = (count: number, ...lines: AssemblyLine[]): AssemblyLine[] => new Array(count).fill(lines).flat()
const ret: AssemblyLine = ['ret']
const one: AssemblyLine = ['ld_u64', 1]
const pair: readonly AssemblyLine[] = [one, one, ['pack', 'Pair']]

/** Loops within loops, each with one round. */
function nested(depth: number): AssemblyLine[] {
  const levels = Array.from({ length: depth }, (_, level) => level)
  return [
    ...levels.map((level): AssemblyLine => ({ label: `loop${level}` })).flatMap((label) => [label, ['nop'] as const]),
    ...levels.toReversed().flatMap((level): AssemblyLine[] => [['ld_false'], ['br_true', `loop${level}`]]),
    ret,
  ]
}

const RULES: Readonly<
  Record<string, { readonly accepted: Function; readonly refused: Function; readonly why: RegExp }>
> = {
  // Control flow
  'code ends with a jump': { accepted: { code: [ret] }, refused: { code: [['nop']] }, why: /runs past its end/ },
  'branches stay in the code': {
    accepted: { code: [['branch', 1], ret] },
    refused: { code: [['branch', 2], ret] },
    why: /a branch to 2/,
  },
  'operands name locals that exist': {
    accepted: { locals: [U64], code: [one, ['st_loc', 0], ret] },
    refused: { code: [one, ['st_loc', 0], ret] },
    why: /local 0 of 0/,
  },
  'operands have the types that instructions take': {
    accepted: { results: [U64], code: [one, one, ['add'], ret] },
    refused: { results: [U64], code: [one, ['ld_true'], ['add'], ret] },
    why: /operands that are not integers of one type/,
  },
  'a function has code': { accepted: { code: [ret] }, refused: { code: [] }, why: /without instructions/ },
  'a loop has one entry': {
    accepted: { code: [{ label: 'head' }, ['ld_true'], ['br_true', 'head'], ret] },
    refused: {
      code: [
        ['ld_true'],
        ['br_true', 'middle'],
        { label: 'head' },
        ['nop'],
        { label: 'middle' },
        ['ld_true'],
        ['br_true', 'head'],
        ret,
      ],
    },
    why: /a loop with two entries/,
  },
  'loops are at most five deep': {
    accepted: { code: nested(5) },
    refused: { code: nested(6) },
    why: /loops deeper than 5/,
  },
  'a function has at most 1,024 blocks': {
    accepted: { code: [...repeat(1_023, { label: 'x' }, ['branch', 1_023]).filter((line) => !('label' in line)), ret] },
    refused: { code: [...repeat(1_024, ['branch', 1_024]), ret] },
    why: /more than 1024 basic blocks/,
  },
  // Stack
  'each block leaves the stack as it was': {
    accepted: { code: [one, ['pop'], ['branch', 3], ret] },
    refused: { code: [one, ['branch', 2], ['pop'], ret] },
    why: /left on the stack/,
  },
  'a function has at most 1,024 operands': {
    accepted: { code: [...repeat(1_024, one), ...repeat(1_024, ['pop']), ret] },
    refused: { code: [...repeat(1_025, one), ...repeat(1_025, ['pop']), ret] },
    why: /too many operands/,
  },
  'a block pushes at most 10,000 operands': {
    accepted: { code: [...repeat(10_000, one, ['pop']), ret] },
    refused: { code: [...repeat(10_001, one, ['pop']), ret] },
    why: /too many operands in a block/,
  },
  // Types
  'only a mutable reference is written': {
    accepted: { parameters: [mutable(U64)], code: [one, ['move_loc', 0], ['write_ref'], ret] },
    refused: { parameters: [immutable(U64)], code: [one, ['move_loc', 0], ['write_ref'], ret] },
    why: /an immutable reference/,
  },
  'an immutable reference is no mutable one': {
    accepted: { parameters: [mutable(U64)], code: [['move_loc', 0], ['call', { name: 'same' }], ['pop'], ret] },
    refused: { parameters: [immutable(U64)], code: [['move_loc', 0], ['call', { name: 'same' }], ['pop'], ret] },
    why: /an operand of another type/,
  },
  'a mutable reference is no immutable one before it is frozen': {
    accepted: { parameters: [mutable(U64)], results: [immutable(U64)], code: [['move_loc', 0], ['freeze_ref'], ret] },
    refused: { parameters: [mutable(U64)], results: [immutable(U64)], code: [['move_loc', 0], ret] },
    why: /an operand of another type/,
  },
  'a vector changes through a mutable reference': {
    accepted: { parameters: [mutable(NUMBERS)], code: [['move_loc', 0], one, ['vec_push_back', U64], ret] },
    refused: { parameters: [immutable(NUMBERS)], code: [['move_loc', 0], one, ['vec_push_back', U64], ret] },
    why: /an immutable reference/,
  },
  'a mutable field needs a mutable struct': {
    accepted: { parameters: [mutable(PAIR)], code: [['move_loc', 0], ['mut_borrow_field', 'Pair.a'], ['pop'], ret] },
    refused: { parameters: [immutable(PAIR)], code: [['move_loc', 0], ['mut_borrow_field', 'Pair.a'], ['pop'], ret] },
    why: /an immutable reference/,
  },
  // Abilities
  'a copied local has copy': {
    accepted: { parameters: [PAIR], code: [['copy_loc', 0], ['pop'], ret] },
    refused: { parameters: [COIN], results: [COIN, COIN], code: [['copy_loc', 0], ['move_loc', 0], ret] },
    why: /without the ability copy/,
  },
  'a read value has copy': {
    accepted: { parameters: [immutable(PAIR)], results: [PAIR], code: [['move_loc', 0], ['read_ref'], ret] },
    refused: { parameters: [immutable(COIN)], results: [COIN], code: [['move_loc', 0], ['read_ref'], ret] },
    why: /without the ability copy/,
  },
  'a popped value has drop': {
    accepted: { parameters: [PAIR], code: [['move_loc', 0], ['pop'], ret] },
    refused: { parameters: [COIN], code: [['move_loc', 0], ['pop'], ret] },
    why: /without the ability drop/,
  },
  'a value that is written over has drop': {
    accepted: { parameters: [mutable(PAIR), PAIR], code: [['move_loc', 1], ['move_loc', 0], ['write_ref'], ret] },
    refused: { parameters: [mutable(COIN), COIN], code: [['move_loc', 1], ['move_loc', 0], ['write_ref'], ret] },
    why: /without the ability drop/,
  },
  'compared values have drop': {
    accepted: { parameters: [PAIR, PAIR], results: [BOOL], code: [['move_loc', 0], ['move_loc', 1], ['eq'], ret] },
    refused: { parameters: [COIN, COIN], results: [BOOL], code: [['move_loc', 0], ['move_loc', 1], ['eq'], ret] },
    why: /without the ability drop/,
  },
  'a resource has key': {
    accepted: { parameters: [ADDRESS], results: [BOOL], code: [['move_loc', 0], ['exists', 'Stored'], ret] },
    refused: { parameters: [ADDRESS], results: [BOOL], code: [['move_loc', 0], ['exists', 'Plain'], ret] },
    why: /without the ability key/,
  },
  'a generic struct has the abilities of its arguments': {
    accepted: { parameters: [struct('Box', U64)], code: [['move_loc', 0], ['pop'], ret] },
    refused: { parameters: [struct('Box', COIN)], code: [['move_loc', 0], ['pop'], ret] },
    why: /without the ability drop/,
  },
  'phantom arguments take no abilities away': {
    accepted: { parameters: [struct('Phantom', COIN)], code: [['move_loc', 0], ['pop'], ret] },
    refused: { parameters: [{ kind: 'vector', element: COIN }], code: [['move_loc', 0], ['pop'], ret] },
    why: /without the ability drop/,
  },
  'type parameters have the abilities of their constraints': {
    accepted: { typeParameters: [drop], parameters: [T], code: [['move_loc', 0], ['pop'], ret] },
    refused: { typeParameters: [copy], parameters: [T], code: [['move_loc', 0], ['pop'], ret] },
    why: /without the ability drop/,
  },
  'type arguments have the abilities that are asked for': {
    accepted: { code: [['call_generic', { name: 'droppable', typeArguments: [PAIR] }], ret] },
    refused: { code: [['call_generic', { name: 'droppable', typeArguments: [COIN] }], ret] },
    why: /a type argument without an ability/,
  },
  'types name type parameters that exist': {
    accepted: { typeParameters: [drop], locals: [T], code: [ret] },
    refused: { locals: [T], code: [ret] },
    why: /type parameter 0 of 0/,
  },
  'closures have the abilities of their captured values, and are stored only if their function lasts': {
    accepted: { results: [closure(7)], code: [['pack_closure', { name: 'lasting_one' }, 0], ret] },
    refused: { results: [closure(7)], code: [['pack_closure', { name: 'one' }, 0], ret] },
    why: /an operand of another type/,
  },
  'closures may have more abilities than needed': {
    accepted: { results: [closure(2)], code: [['pack_closure', { name: 'one' }, 0], ret] },
    refused: { parameters: [closure(0)], code: [['move_loc', 0], ['pop'], ret] },
    why: /without the ability drop/,
  },
  // Locals
  'a local is read after it was assigned': {
    accepted: { locals: [U64], code: [one, ['st_loc', 0], ['copy_loc', 0], ['pop'], ret] },
    refused: { locals: [U64], code: [['copy_loc', 0], ['pop'], ret] },
    why: /a copy of an empty local/,
  },
  'a local is assigned on all ways to its use': {
    accepted: {
      parameters: [BOOL],
      locals: [U64],
      code: [
        ['move_loc', 0],
        ['br_true', 'a'],
        one,
        ['st_loc', 1],
        ['branch', 'end'],
        { label: 'a' },
        one,
        ['st_loc', 1],
        { label: 'end' },
        ['move_loc', 1],
        ['pop'],
        ret,
      ],
    },
    refused: {
      parameters: [BOOL],
      locals: [U64],
      code: [['move_loc', 0], ['br_true', 'end'], one, ['st_loc', 1], { label: 'end' }, ['move_loc', 1], ['pop'], ret],
    },
    why: /a move of an empty local/,
  },
  'a local is moved once': {
    accepted: { parameters: [PAIR], code: [['move_loc', 0], ['pop'], ret] },
    refused: { parameters: [PAIR], code: [['move_loc', 0], ['pop'], ['move_loc', 0], ['pop'], ret] },
    why: /a move of an empty local/,
  },
  'a local is borrowed while it has a value': {
    accepted: { parameters: [PAIR], code: [['imm_borrow_loc', 0], ['pop'], ret] },
    refused: { locals: [PAIR], code: [['imm_borrow_loc', 0], ['pop'], ret] },
    why: /a reference to an empty local/,
  },
  'a value without drop does not stay behind': {
    accepted: { parameters: [COIN], results: [COIN], code: [['move_loc', 0], ret] },
    refused: { parameters: [COIN], code: [ret] },
    why: /neither used nor dropped/,
  },
  'a value without drop is not overwritten': {
    accepted: { parameters: [PAIR, PAIR], code: [['move_loc', 1], ['st_loc', 0], ret] },
    refused: {
      parameters: [COIN, COIN],
      results: [COIN],
      code: [['move_loc', 1], ['st_loc', 0], ['move_loc', 0], ret],
    },
    why: /a value that is overwritten/,
  },
  // References
  'a borrowed local is not moved': {
    accepted: { parameters: [PAIR], code: [['imm_borrow_loc', 0], ['pop'], ['move_loc', 0], ['pop'], ret] },
    refused: { parameters: [PAIR], code: [['imm_borrow_loc', 0], ['move_loc', 0], ['pop'], ['pop'], ret] },
    why: /a move of a borrowed local/,
  },
  'a borrowed local is not overwritten': {
    accepted: { parameters: [PAIR], code: [['imm_borrow_loc', 0], ['pop'], ...pair, ['st_loc', 0], ret] },
    refused: { parameters: [PAIR], code: [['imm_borrow_loc', 0], ...pair, ['st_loc', 0], ['pop'], ret] },
    why: /a borrowed local that is overwritten/,
  },
  'a mutably borrowed local is not copied': {
    accepted: { parameters: [PAIR], code: [['imm_borrow_loc', 0], ['copy_loc', 0], ['pop'], ['pop'], ret] },
    refused: { parameters: [PAIR], code: [['mut_borrow_loc', 0], ['copy_loc', 0], ['pop'], ['pop'], ret] },
    why: /a copy of a borrowed local/,
  },
  'a mutably borrowed local is not borrowed again': {
    accepted: { parameters: [PAIR], code: [['imm_borrow_loc', 0], ['imm_borrow_loc', 0], ['pop'], ['pop'], ret] },
    refused: { parameters: [PAIR], code: [['mut_borrow_loc', 0], ['imm_borrow_loc', 0], ['pop'], ['pop'], ret] },
    why: /a local that is borrowed mutably already/,
  },
  'nothing is written while it is borrowed': {
    accepted: {
      parameters: [mutable(PAIR)],
      locals: [immutable(U64)],
      code: [
        ['copy_loc', 0],
        ['imm_borrow_field', 'Pair.a'],
        ['st_loc', 1],
        ['move_loc', 1],
        ['pop'],
        ...pair,
        ['move_loc', 0],
        ['write_ref'],
        ret,
      ],
    },
    refused: {
      parameters: [mutable(PAIR)],
      locals: [immutable(U64)],
      code: [
        ['copy_loc', 0],
        ['imm_borrow_field', 'Pair.a'],
        ['st_loc', 1],
        ...pair,
        ['move_loc', 0],
        ['write_ref'],
        ['move_loc', 1],
        ['pop'],
        ret,
      ],
    },
    why: /a mutable reference to a borrowed value/,
  },
  'two fields are borrowed at once, one field is not': {
    accepted: {
      parameters: [mutable(PAIR)],
      code: [
        ['copy_loc', 0],
        ['mut_borrow_field', 'Pair.a'],
        ['move_loc', 0],
        ['mut_borrow_field', 'Pair.b'],
        ['call', { name: 'two' }],
        ret,
      ],
    },
    refused: {
      parameters: [mutable(PAIR)],
      code: [
        ['copy_loc', 0],
        ['mut_borrow_field', 'Pair.a'],
        ['move_loc', 0],
        ['mut_borrow_field', 'Pair.a'],
        ['call', { name: 'two' }],
        ret,
      ],
    },
    why: /a mutable reference to a borrowed value/,
  },
  'two fields of a variant are borrowed at once, one field is not': {
    accepted: {
      parameters: [mutable(struct('Choice'))],
      code: [
        ['copy_loc', 0],
        ['mut_borrow_variant_field', 'Choice::Number|Two.x'],
        ['move_loc', 0],
        ['mut_borrow_variant_field', 'Choice::Two.y'],
        ['call', { name: 'two' }],
        ret,
      ],
    },
    refused: {
      parameters: [mutable(struct('Choice'))],
      code: [
        ['copy_loc', 0],
        ['mut_borrow_variant_field', 'Choice::Number|Two.x'],
        ['move_loc', 0],
        ['mut_borrow_variant_field', 'Choice::Two.x'],
        ['call', { name: 'two' }],
        ret,
      ],
    },
    why: /a mutable reference to a borrowed value/,
  },
  'an element is not borrowed mutably while another is': {
    accepted: {
      parameters: [immutable(NUMBERS)],
      code: [
        ['copy_loc', 0],
        one,
        ['vec_imm_borrow', U64],
        ['move_loc', 0],
        one,
        ['vec_imm_borrow', U64],
        ['pop'],
        ['pop'],
        ret,
      ],
    },
    refused: {
      parameters: [mutable(NUMBERS)],
      code: [
        ['copy_loc', 0],
        one,
        ['vec_mut_borrow', U64],
        ['move_loc', 0],
        one,
        ['vec_mut_borrow', U64],
        ['pop'],
        ['pop'],
        ret,
      ],
    },
    why: /a mutable reference to a borrowed value/,
  },
  'a vector is not changed while an element is borrowed': {
    accepted: {
      parameters: [mutable(NUMBERS)],
      code: [
        ['copy_loc', 0],
        one,
        ['vec_mut_borrow', U64],
        ['pop'],
        ['move_loc', 0],
        ['vec_pop_back', U64],
        ['pop'],
        ret,
      ],
    },
    refused: {
      parameters: [mutable(NUMBERS)],
      code: [
        ['copy_loc', 0],
        one,
        ['vec_mut_borrow', U64],
        ['move_loc', 0],
        ['vec_pop_back', U64],
        ['pop'],
        ['pop'],
        ret,
      ],
    },
    why: /a mutable reference to a borrowed value/,
  },
  'a mutably borrowed value is not read': {
    accepted: {
      parameters: [mutable(U64)],
      code: [['copy_loc', 0], ['pop'], ['move_loc', 0], ['read_ref'], ['pop'], ret],
    },
    refused: {
      parameters: [mutable(U64)],
      locals: [mutable(U64)],
      code: [['copy_loc', 0], ['st_loc', 1], ['move_loc', 0], ['read_ref'], ['pop'], ['move_loc', 1], ['pop'], ret],
    },
    why: /a read of a mutably borrowed value/,
  },
  'a reference that a call returns borrows from its arguments': {
    accepted: {
      parameters: [U64],
      code: [['mut_borrow_loc', 0], ['call', { name: 'same' }], ['pop'], ['move_loc', 0], ['pop'], ret],
    },
    refused: {
      parameters: [U64],
      code: [['mut_borrow_loc', 0], ['call', { name: 'same' }], ['move_loc', 0], ['pop'], ['pop'], ret],
    },
    why: /a move of a borrowed local/,
  },
  'no reference to a local is returned': {
    accepted: { parameters: [mutable(U64)], results: [mutable(U64)], code: [['move_loc', 0], ret] },
    refused: { parameters: [U64], results: [mutable(U64)], code: [['mut_borrow_loc', 0], ret] },
    why: /a reference to a local or resource returned/,
  },
  'no reference to a resource is returned': {
    accepted: {
      parameters: [ADDRESS],
      results: [U64],
      code: [['move_loc', 0], ['imm_borrow_global', 'Stored'], ['imm_borrow_field', 'Stored.value'], ['read_ref'], ret],
    },
    refused: {
      parameters: [ADDRESS],
      results: [immutable(STORED)],
      code: [['move_loc', 0], ['imm_borrow_global', 'Stored'], ret],
    },
    why: /a reference to a local or resource returned/,
  },
  'a borrow on one way is a borrow where ways meet': {
    accepted: {
      parameters: [BOOL, PAIR],
      locals: [immutable(PAIR)],
      code: [
        ['imm_borrow_loc', 1],
        ['st_loc', 2],
        ['move_loc', 0],
        ['br_true', 'end'],
        { label: 'end' },
        ['move_loc', 2],
        ['pop'],
        ['move_loc', 1],
        ['pop'],
        ret,
      ],
    },
    refused: {
      parameters: [BOOL, PAIR, PAIR],
      locals: [immutable(PAIR)],
      code: [
        ['imm_borrow_loc', 1],
        ['st_loc', 3],
        ['move_loc', 0],
        ['br_true', 'end'],
        ['imm_borrow_loc', 2],
        ['st_loc', 3],
        { label: 'end' },
        ['move_loc', 1],
        ['pop'],
        ret,
      ],
    },
    why: /a move of a borrowed local/,
  },
  'a borrow in a round of a loop is one in the next': {
    accepted: {
      parameters: [NUMBERS],
      code: [
        { label: 'loop' },
        ['mut_borrow_loc', 0],
        one,
        ['vec_push_back', U64],
        ['ld_false'],
        ['br_true', 'loop'],
        ret,
      ],
    },
    refused: {
      parameters: [NUMBERS, U64],
      locals: [mutable(U64), mutable(NUMBERS)],
      code: [
        ['mut_borrow_loc', 1],
        ['st_loc', 2],
        ['mut_borrow_loc', 0],
        ['st_loc', 3],
        { label: 'loop' },
        ['copy_loc', 3],
        one,
        ['vec_mut_borrow', U64],
        ['st_loc', 2],
        ['ld_false'],
        ['br_true', 'loop'],
        ret,
      ],
    },
    why: /a mutable reference to a borrowed value/,
  },
  'a resource is not taken while it is borrowed': {
    accepted: {
      parameters: [ADDRESS],
      results: [STORED],
      code: [
        ['copy_loc', 0],
        ['mut_borrow_global', 'Stored'],
        ['pop'],
        ['move_loc', 0],
        ['call', { name: 'take' }],
        ret,
      ],
    },
    refused: {
      parameters: [ADDRESS],
      results: [STORED],
      locals: [mutable(STORED)],
      code: [
        ['copy_loc', 0],
        ['mut_borrow_global', 'Stored'],
        ['st_loc', 1],
        ['move_loc', 0],
        ['call', { name: 'take' }],
        ret,
      ],
    },
    why: /a borrowed resource/,
  },
  // Acquired structs
  'a function declares the structs that it acquires': {
    accepted: {
      parameters: [ADDRESS],
      results: [STORED],
      acquires: ['Stored'],
      code: [['move_loc', 0], ['move_from', 'Stored'], ret],
    },
    refused: {
      parameters: [ADDRESS],
      results: [STORED],
      acquires: [],
      code: [['move_loc', 0], ['move_from', 'Stored'], ret],
    },
    why: /a struct that is acquired undeclared/,
  },
  'a function declares the structs that its callees acquire': {
    accepted: {
      parameters: [ADDRESS],
      results: [STORED],
      acquires: ['Stored'],
      code: [['move_loc', 0], ['call', { name: 'take' }], ret],
    },
    refused: {
      parameters: [ADDRESS],
      results: [STORED],
      acquires: [],
      code: [['move_loc', 0], ['call', { name: 'take' }], ret],
    },
    why: /a struct that is acquired undeclared/,
  },
  'a function acquires each struct that it declares, once': {
    accepted: { acquires: [], code: [ret] },
    refused: { acquires: ['Stored'], code: [ret] },
    why: /declared as acquired and is not/,
  },
}

const good: AssembledFunction = { name: 'good', results: [U64], code: [one, ret] }

/** Why a module with these structs is refused; undefined if it is not. */
function refusalOfStructs(structs: readonly AssembledStruct[]): string | undefined {
  const { fault } = callView(createVm(), new TestState([{ name: 'm', structs, functions: [good] }]), 'm::good')
  if (fault) expect(fault.code).toBe(2006)
  return fault?.message
}

type Structs = readonly AssembledStruct[]
const of = (abilities: number, ...types: SignatureToken[]): Structs => [
  { name: 'Coin', abilities: store, fields: [['value', U64]] },
  { name: 'Box', abilities: 7, typeParameters: [store], fields: [['value', T]] },
  { name: 'S', abilities, fields: types.map((type, at) => [`f${at}`, type] as const) },
]
const circle = (last: SignatureToken): Structs => [
  { name: 'A', abilities: 0, fields: [['b', { kind: 'vector', element: struct('B') }]] },
  { name: 'B', abilities: 0, variants: [{ name: 'One', fields: [['c', struct('C')]] }] },
  { name: 'C', abilities: 0, fields: [['last', last]] },
]

const STRUCT_RULES: Readonly<
  Record<string, { readonly accepted: Structs; readonly refused: Structs; readonly why: RegExp }>
> = {
  'a struct does not contain itself': { accepted: circle(U64), refused: circle(struct('A')), why: /contains itself/ },
  'fields have the abilities of their struct': {
    accepted: of(store, COIN),
    refused: of(store | drop, COIN),
    why: /a field of S without an ability/,
  },
  'fields of a resource have store': {
    accepted: of(key, COIN),
    refused: of(key, { kind: 'signer' }),
    why: /a field of S without an ability/,
  },
  'fields are no references': {
    accepted: of(drop, U64),
    refused: of(drop, immutable(U64)),
    why: /a reference in the place/,
  },
  'type arguments in fields have the abilities that are asked for': {
    accepted: of(store, struct('Box', COIN)),
    refused: of(drop, struct('Box', { kind: 'signer' })),
    why: /a type argument without an ability/,
  },
  'type parameters of fields exist': { accepted: of(drop, U64), refused: of(drop, T), why: /type parameter 0 of 0/ },
  'phantom type parameters are in no field': {
    accepted: [{ name: 'P', typeParameters: [{ constraints: 0, phantom: false }], fields: [['f', T]] }],
    refused: [{ name: 'P', typeParameters: [{ constraints: 0, phantom: true }], fields: [['f', T]] }],
    why: /a phantom type parameter in a field/,
  },
}

/**
 * Asks twice for a sound view of a module with a function that no code calls, and for one of a module that calls the sound view:
 * in this order, and the other way round. Returns the messages of the refusals: one for each answer.
 */
function refusalsAsUncalled(tested: Function): (string | undefined)[] {
  const calling: AssembledFunction = {
    name: 'calling',
    results: [U64],
    code: [['call', { module: SELF, name: 'good', results: [U64] }], ret],
  }
  const state = new TestState([
    { name: 'm', structs: STRUCTS, functions: [...HELPERS, good, { ...tested, name: 'tested', isView: false }] },
    { name: 'n', functions: [calling] },
  ])
  const names = ['m::good', 'n::calling', 'm::good', 'n::calling']
  return [names, names.toReversed()].flatMap((order) => {
    const vm = createVm()
    return order.map((name) => {
      const { fault, results } = callView(vm, state, name, [], { turn: 100 })
      if (fault) expect(fault.code).toBe(2006)
      else expect(results).toEqual([Uint8Array.of(1, 0, 0, 0, 0, 0, 0, 0)])
      return fault?.message
    })
  })
}

describe('a module with an unsound function that is never called is refused', () => {
  for (const [rule, { accepted, refused, why }] of Object.entries(RULES)) {
    it(`if the function breaks the rule that ${rule}`, () => {
      expect(new Set(refusalsAsUncalled(accepted))).toEqual(new Set([undefined]))
      for (const message of refusalsAsUncalled(refused)) expect(message).toMatch(why)
    })
  }
})

describe('the verifier', () => {
  for (const [rule, { accepted, refused, why }] of Object.entries(STRUCT_RULES)) {
    it(`knows that ${rule}`, () => {
      expect(refusalOfStructs(accepted)).toBeUndefined()
      expect(refusalOfStructs(refused)).toMatch(why)
    })
  }

  for (const [rule, { accepted, refused, why }] of Object.entries(RULES)) {
    it(`knows that ${rule}`, () => {
      expect(refusalOf(accepted)).toBeUndefined()
      expect(refusalOf(refused)).toMatch(why)
    })
  }

  it('bounds the edges between a call and its results, as the reference does', () => {
    const spread = (count: number): Function => ({
      parameters: new Array(count).fill(immutable(U8)),
      code: [
        ...Array.from({ length: count }, (_, at): AssemblyLine => ['move_loc', at]),
        [
          'call',
          {
            module: { ...SELF, name: 'other' },
            name: 'f',
            parameters: new Array(count).fill(immutable(U8)),
            results: [immutable(U8)],
          },
        ],
        ['pop'],
        ret,
      ],
    })
    expect(refusalOf(spread(31))).toBeUndefined()
    expect(refusalOf(spread(34))).toMatch(/too complex/)
  })
})
