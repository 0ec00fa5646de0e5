import { ByteReader, ByteWriter, parseAddress } from '@ledger-state/core'
import type { AssembledFunction, AssemblyLine, SignatureToken } from '@ledger-state/move-module'
import { describe, expect, it } from 'vitest'
import { callView, TestState } from '../../testing/test-state.js'
import { MOST_ELEMENTS, MOST_VECTOR_BYTES } from '../budget/meter.js'
import { createVm } from '../index.js'

// Instructions that copy or compare large values, which takes several turns.

const U64: SignatureToken = { kind: 'u64' }
const S: SignatureToken = {
  kind: 'struct',
  module: { address: parseAddress('0x42'), name: 'm' },
  name: 'S',
  typeArguments: [],
}
const STRUCTS: SignatureToken = { kind: 'vector', element: S }
const COUNT = 4_000
/** Bytes that a copy of the whole value counts: the vector, and a struct for each element. */
const COPY_BYTES = 40 + 8 * COUNT + 48 * COUNT
const LOCAL = { index: 0, structs: 1, copy: 2 } as const

/** Fills a vector of structs that hold their indexes. */
const FILL: AssemblyLine[] = [
  ['ld_u64', 0],
  ['st_loc', LOCAL.index],
  ['vec_pack', S, 0],
  ['st_loc', LOCAL.structs],
  { label: 'fill' },
  ['copy_loc', LOCAL.index],
  ['ld_u64', COUNT],
  ['lt'],
  ['br_false', 'filled'],
  ['mut_borrow_loc', LOCAL.structs],
  ['copy_loc', LOCAL.index],
  ['pack', 'S'],
  ['vec_push_back', S],
  ['move_loc', LOCAL.index],
  ['ld_u64', 1],
  ['add'],
  ['st_loc', LOCAL.index],
  ['branch', 'fill'],
  { label: 'filled' },
]

const fieldOfLast = (local: number): AssemblyLine[] => [
  ['mut_borrow_loc', local],
  ['ld_u64', COUNT - 1],
  ['vec_mut_borrow', S],
  ['mut_borrow_field', 'S.x'],
]

const view = (name: string, results: SignatureToken[], code: AssemblyLine[]): AssembledFunction => ({
  name,
  results,
  locals: [U64, STRUCTS, STRUCTS],
  code: [...FILL, ...code, ['ret']],
})

const BOOL: SignatureToken = { kind: 'bool' }
const toCopy: AssemblyLine[] = [
  ['copy_loc', LOCAL.structs],
  ['st_loc', LOCAL.copy],
]
const changeCopy: AssemblyLine[] = [['ld_u64', 7], ...fieldOfLast(LOCAL.copy), ['write_ref']]
const bothBorrowed: AssemblyLine[] = [
  ['imm_borrow_loc', LOCAL.structs],
  ['imm_borrow_loc', LOCAL.copy],
]

const MODULE = {
  name: 'm',
  structs: [{ name: 'S', fields: [['x', U64]] as const }],
  functions: [
    view(
      'copies',
      [U64, U64],
      [...toCopy, ...changeCopy, ...fieldOfLast(LOCAL.structs), ['read_ref'], ...fieldOfLast(LOCAL.copy), ['read_ref']],
    ),
    view(
      'reads',
      [U64, U64],
      [
        ['imm_borrow_loc', LOCAL.structs],
        ['read_ref'],
        ['st_loc', LOCAL.copy],
        ...changeCopy,
        ...fieldOfLast(LOCAL.structs),
        ['read_ref'],
        ...fieldOfLast(LOCAL.copy),
        ['read_ref'],
      ],
    ),
    view('equal', [BOOL, BOOL], [...toCopy, ...bothBorrowed, ['eq'], ...bothBorrowed, ['neq']]),
    view('unequal', [BOOL, BOOL], [...toCopy, ...changeCopy, ...bothBorrowed, ['eq'], ...bothBorrowed, ['neq']]),
  ],
}

const copyOffset = FILL.filter((line) => !('label' in line)).length
const u64Of = (bytes: Uint8Array) => new ByteReader(bytes).readU64()
const TURNS = [1, 1_000, 1e9]

describe('a large value', () => {
  const vm = createVm()
  const state = new TestState([MODULE])

  it.each(['copies', 'reads'])('is copied whole before the next instruction runs: %s', (name) => {
    const answers = TURNS.map((turn) => callView(vm, state, `m::${name}`, [], { turn }))
    expect(answers[0]!.results!.map(u64Of)).toEqual([BigInt(COUNT - 1), 7n])
    for (const answer of answers) expect(answer).toEqual(answers[0])
    expect(answers[0]!.usage.bytes).toBeGreaterThan(COPY_BYTES)
  })

  it.each([
    ['equal', [1, 0]],
    ['unequal', [0, 1]],
  ])('is compared whole before the next instruction runs: %s', (name, expected) => {
    const answers = TURNS.map((turn) => callView(vm, state, `m::${name}`, [], { turn }))
    expect(answers[0]!.results!.map(([byte]) => byte)).toEqual(expected)
    for (const answer of answers) expect(answer).toEqual(answers[0])
  })

  it('takes turns by its bytes', () => {
    const turnsOf = (name: string): number => {
      const call = { address: parseAddress('0x42'), module: 'm', function: name, typeArguments: [], arguments: [] }
      const run = vm.startView(state, call)
      let turns = 1
      while (run.advance(1_024).kind === 'paused') turns++
      return turns
    }
    const { usage } = callView(vm, state, 'm::copies')
    const instructions = Math.floor(usage.instructions / 1_024)
    expect(turnsOf('copies')).toBeGreaterThanOrEqual(instructions + Math.floor(COPY_BYTES / 65_536))
  })

  it('that exceeds the budget of bytes is a fault of the instruction that copies it', () => {
    const { usage } = callView(vm, state, 'm::copies')
    const faults = [COPY_BYTES - 1, COPY_BYTES >> 1, 1_000].flatMap((lacking) => {
      const budget = { bytes: usage.bytes - lacking }
      return TURNS.map((turn) => callView(vm, state, 'm::copies', [], { turn, budget }).fault!)
    })
    for (const fault of faults) {
      expect(fault.code).toBe(4030)
      expect(fault.message).toContain(`at code offset ${copyOffset} in function definition 0`)
    }
  })
})

describe('a vector that is too long for a turn', () => {
  const PARTS = 16

  it.each([
    ['u8', MOST_VECTOR_BYTES, 1],
    ['u64', MOST_ELEMENTS, 8],
  ] as const)('is not made by pushing an element: %s', (kind, most, size) => {
    const element: SignatureToken = { kind }
    const list: SignatureToken = { kind: 'vector', element }
    const mutable = (to: SignatureToken): SignatureToken => ({ kind: 'reference', mutable: true, to })
    const moveRange = (of: SignatureToken) => ({
      name: 'move_range',
      typeParameters: [0],
      parameters: [mutable(of), U64, U64, mutable(of), U64],
    })
    const generic: SignatureToken = { kind: 'vector', element: { kind: 'typeParameter', index: 0 } }
    const vector = { address: parseAddress('0x1'), name: 'vector' }
    const appendCopy: AssemblyLine[] = [
      ['imm_borrow_loc', 1],
      ['vec_len', element],
      ['st_loc', 3],
      ['copy_loc', 0],
      ['st_loc', 2],
      ['mut_borrow_loc', 2],
      ['ld_u64', 0],
      ['imm_borrow_loc', 0],
      ['vec_len', element],
      ['mut_borrow_loc', 1],
      ['copy_loc', 3],
      ['call_generic', { ...moveRange(generic), module: vector, typeArguments: [element] }],
    ]
    const state = new TestState([
      { name: 'vector', address: '0x1', functions: [{ ...moveRange(generic), isNative: true, isView: false }] },
      {
        name: 'm',
        functions: [
          {
            name: 'push',
            parameters: [list, list],
            results: [U64],
            locals: [list, U64],
            code: [
              ...new Array<AssemblyLine[]>(PARTS - 1).fill(appendCopy).flat(),
              ['mut_borrow_loc', 1],
              [kind === 'u8' ? 'ld_u8' : 'ld_u64', 7],
              ['vec_push_back', element],
              ['imm_borrow_loc', 1],
              ['vec_len', element],
              ['ret'],
            ],
          },
        ],
      },
    ])
    const zeros = (length: number) =>
      new ByteWriter()
        .uleb128(length)
        .bytes(new Uint8Array(length * size))
        .toBytes()
    const push = (less: number) =>
      callView(createVm(), state, 'm::push', [zeros(most / PARTS), zeros(most / PARTS - less)], { turn: 1_000_000 })
    const { results, fault } = push(1)
    expect(fault).toBeUndefined()
    expect(new ByteReader(results![0]!).readU64()).toBe(BigInt(most))
    expect(push(0).fault?.code).toBe(4030)
  })
})
