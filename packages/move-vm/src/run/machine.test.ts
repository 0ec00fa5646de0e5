import { ByteReader, ByteWriter, hexToBytes, parseAddress } from '@ledger-state/core'
import { compareBytes } from '@ledger-state/core/bytes'
import type { AssembledFunction, Assembly, AssemblyLine, SignatureToken } from '@ledger-state/move-module'
import { parseStructTag, resourceKey } from '@ledger-state/type-tag'
import { describe, expect, it } from 'vitest'
import { callView, SlowState, TestState, type ViewAnswer } from '../../testing/test-state.js'
import { createVm, StructValue, type ViewFault, type ViewState } from '../index.js'

const SCHEDULE_KEY = resourceKey(parseAddress('0x1'), parseStructTag('0x1::gas_schedule::GasScheduleV2'))
const U64: SignatureToken = { kind: 'u64' }
const BOOL: SignatureToken = { kind: 'bool' }
const SELF = { address: parseAddress('0x42'), name: 'm' }
const struct = (name: string, ...typeArguments: SignatureToken[]): SignatureToken => ({
  kind: 'struct',
  module: SELF,
  name,
  typeArguments,
})
const functionType = (parameters: SignatureToken[], results: SignatureToken[]): SignatureToken => ({
  kind: 'function',
  parameters,
  results,
  abilities: 7,
})

const u64 = (value: number | bigint) => new ByteWriter().u64(BigInt(value)).toBytes()

/** The last result as a u64. */
function numberOf({ results, fault }: ViewAnswer): bigint {
  if (fault) throw new Error(fault.message)
  return new ByteReader(results!.at(-1)!).readU64()
}

function faultOf({ fault }: ViewAnswer): ViewFault {
  if (!fault) throw new Error('there is no fault')
  return fault
}

function bed(
  assembly: Partial<Assembly> & { readonly functions: readonly AssembledFunction[] },
  ...others: Assembly[]
) {
  const state = new TestState([{ name: 'm', ...assembly }, ...others])
  const vm = createVm()
  return {
    state,
    vm,
    call: (name: string, ...args: Uint8Array[]) => callView(vm, state, `m::${name}`, args),
  }
}

const AT_M = `Module ModuleId { address: ${'42'.padStart(64, '0')}, name: Identifier("m") }`

describe('the machine', () => {
  it('reports a fault in its display form with the place of the instruction', () => {
    const { call } = bed({
      functions: [
        { name: 'first', results: [U64], code: [['ld_u64', 1], ['ret']] },
        {
          name: 'pop_empty',
          results: [U64],
          locals: [{ kind: 'vector', element: U64 }],
          code: [['vec_pack', U64, 0], ['st_loc', 0], ['mut_borrow_loc', 0], ['vec_pop_back', U64], ['ret']],
        },
      ],
    })
    const fault = faultOf(call('pop_empty'))
    expect(fault.code).toBe(4018)
    expect(fault.message).toBe(
      `VMError with status VECTOR_OPERATION_ERROR with sub status 2 at location ${AT_M} at code offset 3 in function definition 1`,
    )
  })

  it.each([
    ['known by its lowest bits', 0x10007n, 'Move abort in 0x42::m: E_SEVEN(0x10007): The seventh.'],
    ['unknown', 9n, 'Move abort in 0x42::m: 0x9'],
  ])('explains an abort that is %s', (_, code, message) => {
    const { state, vm } = bed({
      errors: [[7n, 'E_SEVEN', 'The seventh.']],
      functions: [{ name: 'f', parameters: [U64], results: [U64], code: [['move_loc', 0], ['abort']] }],
    })
    const fault = faultOf(callView(vm, state, 'm::f', [u64(code)]))
    expect([fault.code, fault.subStatus, fault.message]).toEqual([
      4016,
      code,
      code === 0x10007n ? 'Move abort in 0x42::m: E_SEVEN(0x10007): The seventh.' : message,
    ])
    state.setFeatures((flag) => flag !== 106)
    expect(faultOf(callView(vm, state, 'm::f', [u64(code)])).message).toBe(message)
  })

  it('reports the text of an abort, which is UTF-8 of at most 1,024 bytes', () => {
    const bytes: SignatureToken = { kind: 'vector', element: { kind: 'u8' } }
    const { call } = bed({
      errors: [[1n, 'E_ONE', '']],
      functions: [
        {
          name: 'f',
          parameters: [U64, bytes],
          results: [U64],
          code: [['move_loc', 0], ['move_loc', 1], ['abort_msg']],
        },
      ],
    })
    const text = (value: string) => new ByteWriter().string(value).toBytes()
    expect(faultOf(call('f', u64(1), text('why'))).message).toBe('Move abort in 0x42::m: E_ONE(0x1): why')
    expect(faultOf(call('f', u64(2), text('why'))).message).toBe('Move abort in 0x42::m: (0x2): why')
    expect(faultOf(call('f', u64(2), text('x'.repeat(1_025)))).code).toBe(4043)
    expect(faultOf(call('f', u64(2), Uint8Array.of(1, 0xff))).code).toBe(4042)
  })

  it('names a variant that was not expected', () => {
    const { call } = bed({
      structs: [
        {
          name: 'E',
          variants: [
            { name: 'A', fields: [['x', U64]] },
            { name: 'B', fields: [['x', U64]] },
            { name: 'C', fields: [] },
          ],
        },
      ],
      functions: [
        { name: 'unpack', results: [U64], code: [['pack_variant', 'E::C'], ['unpack_variant', 'E::A'], ['ret']] },
        {
          name: 'borrow',
          results: [U64],
          locals: [struct('E')],
          code: [
            ['pack_variant', 'E::C'],
            ['st_loc', 0],
            ['imm_borrow_loc', 0],
            ['imm_borrow_variant_field', 'E::A|B.x'],
            ['read_ref'],
            ['ret'],
          ],
        },
        {
          name: 'right',
          results: [BOOL, U64],
          locals: [struct('E')],
          code: [
            ['ld_u64', 5],
            ['pack_variant', 'E::B'],
            ['st_loc', 0],
            ['imm_borrow_loc', 0],
            ['test_variant', 'E::B'],
            ['imm_borrow_loc', 0],
            ['imm_borrow_variant_field', 'E::A|B.x'],
            ['read_ref'],
            ['ret'],
          ],
        },
      ],
    })
    expect(faultOf(call('unpack')).message).toBe('expected enum variant A, found C')
    expect(faultOf(call('borrow')).message).toBe('expected enum variant A or B, found `C`')
    expect(faultOf(call('borrow')).code).toBe(4038)
    expect(numberOf(call('right'))).toBe(5n)
  })

  it('ends recursion at 1,024 waiting callers, and operands at 1,024', () => {
    const { call } = bed({
      functions: [
        {
          name: 'down',
          parameters: [U64],
          results: [U64],
          code: [
            ['copy_loc', 0],
            ['ld_u64', 0],
            ['eq'],
            ['br_true', 'end'],
            ['move_loc', 0],
            ['ld_u64', 1],
            ['sub'],
            ['call', { name: 'down' }],
            ['ret'],
            { label: 'end' },
            ['ld_u64', 7],
            ['ret'],
          ],
        },
        {
          name: 'many_together',
          results: [U64],
          code: [['ld_u64', 1], ['call', { name: 'enough' }], ['add'], ['ret']],
        },
        {
          name: 'enough',
          results: [U64],
          code: [
            ...new Array<AssemblyLine>(1_024).fill(['ld_u64', 1]),
            ...new Array<AssemblyLine>(1_023).fill(['add']),
            ['ret'],
          ],
        },
      ],
    })
    expect(numberOf(call('down', u64(1_024)))).toBe(7n)
    expect(faultOf(call('down', u64(1_025))).code).toBe(4021)
    expect(numberOf(call('enough'))).toBe(1_024n)
    expect(faultOf(call('many_together')).code).toBe(4020)
  })

  it('reports missing functions, modules and natives while it runs', () => {
    const { call } = bed(
      {
        functions: [
          {
            name: 'no_function',
            results: [U64],
            code: [['call', { module: { ...SELF, name: 'other' }, name: 'gone', results: [U64] }], ['ret']],
          },
          {
            name: 'no_module',
            results: [U64],
            code: [['call', { module: { ...SELF, name: 'nowhere' }, name: 'f', results: [U64] }], ['ret']],
          },
          { name: 'no_native', results: [U64], code: [['call', { name: 'native' }], ['ret']] },
          { name: 'native', results: [U64], isNative: true, isView: false },
        ],
      },
      { name: 'other', functions: [{ name: 'there', results: [U64], code: [['ld_u64', 1], ['ret']] }] },
    )
    const text = `0x${'42'.padStart(64, '0')}`
    expect(faultOf(call('no_function'))).toMatchObject({
      code: 2006,
      message: `Function ${text}::other::gone does not exist`,
    })
    expect(faultOf(call('no_module'))).toMatchObject({
      code: 2006,
      message: `Linker Error: Module ${text.slice(2)}::nowhere doesn't exist`,
    })
    expect(faultOf(call('no_native'))).toMatchObject({
      code: 2006,
      message: 'Missing Native Function `native`',
    })
  })
})

it('a result that is not a value of its type is a fault of the view', () => {
  const broken = new StructValue(0, [new StructValue(0, undefined as never)])
  const vm = createVm({ natives: new Map([['0x42::m::broken', () => [broken]]]) })
  const functions: AssembledFunction[] = [
    { name: 'broken', results: [struct('Outer')], isNative: true, isView: false },
    { name: 'f', results: [struct('Outer')], code: [['call', { name: 'broken' }], ['ret']] },
  ]
  const structs: Assembly['structs'] = [
    { name: 'Inner', fields: [['x', U64]] },
    { name: 'Outer', fields: [['inner', struct('Inner')]] },
  ]
  expect(faultOf(callView(vm, new TestState([{ name: 'm', structs, functions }]), 'm::f'))).toMatchObject({
    code: 2009,
    message: expect.stringContaining('malformed code or arguments'),
  })
})

const CLOSURES: Assembly = {
  name: 'm',
  structs: [{ name: 'Held', fields: [['f', functionType([U64], [U64])]] }],
  functions: [
    {
      name: 'sub3',
      attributes: [1],
      parameters: [U64, U64, U64],
      results: [U64],
      isView: false,
      code: [['move_loc', 0], ['move_loc', 1], ['sub'], ['move_loc', 2], ['mul'], ['ret']],
    },
    {
      name: 'middle',
      parameters: [U64, U64, U64],
      results: [U64],
      code: [
        ['move_loc', 0],
        ['move_loc', 2],
        ['move_loc', 1],
        // The mask captures the second parameter.
        ['pack_closure', { name: 'sub3' }, 2],
        ['call_closure', functionType([U64, U64], [U64])],
        ['ret'],
      ],
    },
    {
      name: 'stored',
      results: [U64],
      code: [
        ['ld_u64', 100],
        ['ld_const', { type: { kind: 'address' }, constant: parseAddress('0x42') }],
        ['imm_borrow_global', 'Held'],
        ['imm_borrow_field', 'Held.f'],
        ['read_ref'],
        ['call_closure', functionType([U64], [U64])],
        ['ret'],
      ],
    },
    {
      name: 'same',
      results: [BOOL],
      code: [
        ['ld_u64', 1],
        ['pack_closure', { name: 'sub3' }, 1],
        ['ld_u64', 1],
        ['pack_closure', { name: 'sub3' }, 1],
        ['eq'],
        ['ret'],
      ],
    },
    {
      name: 'packed',
      results: [struct('Held')],
      code: [['ld_u64', 8], ['ld_u64', 3], ['pack_closure', { name: 'sub3' }, 6], ['pack', 'Held'], ['ret']],
    },
    {
      name: 'reenter',
      parameters: [],
      results: [U64],
      code: [['pack_closure', { name: 'touch' }, 0], ['call_closure', functionType([], [U64])], ['ret']],
    },
    {
      name: 'touch',
      attributes: [1],
      results: [U64],
      isView: false,
      code: [
        ['ld_const', { type: { kind: 'address' }, constant: parseAddress('0x42') }],
        ['exists', 'Held'],
        ['pop'],
        ['ld_u64', 1],
        ['ret'],
      ],
    },
  ],
}

describe('a closure', () => {
  const state = new TestState([CLOSURES])
  const vm = createVm()
  const call = (name: string, ...args: Uint8Array[]) => callView(vm, state, `m::${name}`, args)
  /** A stored closure of sub3 that captures its last two parameters. */
  const stored = (name = 'sub3', layout = 2) =>
    new ByteWriter()
      .uleb128(9)
      .u16(1)
      .bytes(parseAddress('0x42'))
      .string('m')
      .string(name)
      .uleb128(0)
      .u64(6n)
      .u8(layout)
      .u64(8n)
      .u8(layout)
      .u64(3n)
      .toBytes()
  const key = resourceKey(parseAddress('0x42'), parseStructTag('0x42::m::Held'))

  it('passes captured values where its mask says', () => {
    expect(numberOf(call('middle', u64(10), u64(4), u64(3)))).toBe((10n - 4n) * 3n)
    expect(call('same').results![0]).toEqual(Uint8Array.of(1))
  })

  it('is stored with its layouts, and called out of storage', () => {
    expect(call('packed').results![0]).toEqual(stored())
    state.set(key, stored())
    expect(numberOf(call('stored'))).toBe((100n - 8n) * 3n)
  })

  it('out of storage must have the type that is called, and a function that exists', () => {
    state.set(key, stored('middles'))
    expect(faultOf(call('stored')).code).toBe(2006)
    state.set(key, stored('sub3', 16))
    expect(faultOf(call('stored')).code).toBe(4037)
    state.set(key, hexToBytes('0x00'))
    expect(faultOf(call('stored')).code).toBe(2020)
  })

  it('out of storage may capture an enum that has more variants now, but no other ones', () => {
    const ENUM = struct('Kind')
    const held = new TestState([
      {
        name: 'm',
        structs: [
          { name: 'Held', fields: [['f', functionType([U64], [U64])]] },
          {
            name: 'Kind',
            variants: [
              { name: 'Old', fields: [['x', U64]] },
              { name: 'New', fields: [['wide', { kind: 'u256' }]] },
            ],
          },
        ],
        functions: [
          CLOSURES.functions.find(({ name }) => name === 'stored')!,
          {
            name: 'add_old',
            attributes: [1],
            parameters: [{ kind: 'vector', element: ENUM }, U64],
            results: [U64],
            isView: false,
            code: [
              ['imm_borrow_loc', 0],
              ['ld_u64', 0],
              ['vec_imm_borrow', ENUM],
              ['imm_borrow_variant_field', 'Kind::Old.x'],
              ['read_ref'],
              ['move_loc', 1],
              ['add'],
              ['ret'],
            ],
          },
        ],
      },
    ])
    /** A stored closure that captures one `Old`, with a layout of `Kind` whose variants have these fields. */
    const capturing = (...variants: readonly number[][]) => {
      const writer = new ByteWriter().uleb128(7).u16(1).bytes(SELF.address).string('m').string('add_old').uleb128(0)
      writer.u64(1n).u8(5).u8(6).u8(1).uleb128(variants.length)
      for (const fields of variants) writer.uleb128(fields.length).bytes(Uint8Array.from(fields))
      return writer.uleb128(1).uleb128(0).u64(7n).toBytes()
    }
    const answer = (...variants: readonly number[][]) => {
      held.set(key, capturing(...variants))
      return callView(createVm(), held, 'm::stored')
    }
    expect(numberOf(answer([2], [10]))).toBe(107n)
    expect(numberOf(answer([2]))).toBe(107n)
    expect(faultOf(answer([2], [10], [])).code).toBe(4037)
    expect(faultOf(answer([2], [9])).code).toBe(4037)
    expect(faultOf(answer([2], [10, 10])).code).toBe(4037)
  })

  it('counts as entering its module again, which locks its resources', () => {
    expect(faultOf(call('reenter'))).toMatchObject({
      code: 4037,
      message: `Resource \`${'42'.padStart(64, '0')}::m::Held\` cannot be accessed because of active reentrancy of defining module.`,
    })
    expect(numberOf(callView(vm, state, 'm::middle', [u64(9), u64(1), u64(1)]))).toBe(8n)
  })
})

describe('a closure of a function that is neither public nor persistent', () => {
  const SHORT_LIVED: SignatureToken = { kind: 'function', parameters: [U64], results: [U64], abilities: 3 }
  const T: SignatureToken = { kind: 'typeParameter', index: 0 }
  const BYTES: SignatureToken = { kind: 'vector', element: { kind: 'u8' } }
  const bcs = { address: parseAddress('0x1'), name: 'bcs' }
  const readsClosure = (name: string, result: SignatureToken) => ({
    name,
    parameters: [{ kind: 'reference', mutable: false, to: T }] as SignatureToken[],
    results: [result],
    typeParameters: [0],
  })
  const toBytes = readsClosure('to_bytes', BYTES)
  const size = readsClosure('serialized_size', U64)
  const PACKED: Readonly<Record<string, AssemblyLine[]>> = {
    with_capture: [
      ['ld_u64', 1],
      ['pack_closure', { name: 'sum' }, 1],
    ],
    without_capture: [['pack_closure', { name: 'same_number' }, 0]],
  }
  const ofClosure = (name: string, closure: AssemblyLine[], callee: ReturnType<typeof readsClosure>) => ({
    name,
    results: callee.results,
    locals: [SHORT_LIVED],
    code: [
      ...closure,
      ['st_loc', 0],
      ['imm_borrow_loc', 0],
      ['call_generic', { ...callee, module: bcs, typeArguments: [SHORT_LIVED] }],
      ['ret'],
    ] as AssemblyLine[],
  })
  const hidden = { visibility: 'private', isView: false, results: [U64] } as const
  const { call } = bed(
    {
      functions: [
        { ...hidden, name: 'sum', parameters: [U64, U64], code: [['move_loc', 0], ['move_loc', 1], ['add'], ['ret']] },
        { ...hidden, name: 'same_number', parameters: [U64], code: [['move_loc', 0], ['ret']] },
        ...Object.entries(PACKED).flatMap(([name, closure]): AssembledFunction[] => [
          { name, results: [SHORT_LIVED], code: [...closure, ['ret']] },
          {
            name: `many_${name}`,
            results: [{ kind: 'vector', element: SHORT_LIVED }],
            code: [...closure, ['vec_pack', SHORT_LIVED, 1], ['ret']],
          },
          ofClosure(`bytes_${name}`, closure, toBytes),
          ofClosure(`size_${name}`, closure, size),
          {
            name: `called_${name}`,
            results: [U64],
            code: [['ld_u64', 5], ...closure, ['call_closure', SHORT_LIVED], ['ret']],
          },
        ]),
      ],
    },
    {
      name: 'bcs',
      address: '0x1',
      functions: [toBytes, size].map((one) => ({ ...one, isNative: true, visibility: 'public', isView: false })),
    },
  )

  it.each(Object.keys(PACKED))('has no BCS, %s', (name) => {
    const fault = { code: 2000, message: 'failed to serialize return values' }
    expect(faultOf(call(name))).toMatchObject(fault)
    expect(faultOf(call(`many_${name}`))).toMatchObject(fault)
    expect(faultOf(call(`bytes_${name}`))).toMatchObject({ code: 4016, subStatus: 0x1c5n })
    expect(faultOf(call(`size_${name}`))).toMatchObject({ code: 4016, subStatus: 0x1c5n })
    expect(numberOf(call(`called_${name}`))).toBe(name === 'with_capture' ? 6n : 5n)
  })
})

describe('the module lock', () => {
  it('refuses to enter an active module from another one', () => {
    const other = { ...SELF, name: 'other' }
    const { call } = bed(
      {
        functions: [
          {
            name: 'start',
            results: [U64],
            code: [
              ['pack_closure', { name: 'back' }, 0],
              ['call', { module: other, name: 'locked', parameters: [functionType([], [U64])], results: [U64] }],
              ['ret'],
            ],
          },
          { name: 'back', results: [U64], isView: false, attributes: [1], code: [['ld_u64', 1], ['ret']] },
        ],
      },
      {
        name: 'other',
        functions: [
          {
            name: 'locked',
            parameters: [functionType([], [U64])],
            results: [U64],
            attributes: [2],
            code: [['move_loc', 0], ['call_closure', functionType([], [U64])], ['ret']],
          },
        ],
      },
    )
    expect(faultOf(call('start'))).toMatchObject({
      code: 4037,
      message: `Reentrancy disallowed: reentering \`${'42'.padStart(64, '0')}::m\` via function \`back\` (module lock is active)`,
    })
  })
})

const TURNS: Assembly = {
  name: 'm',
  structs: [{ name: 'R', fields: [['value', U64]] }],
  functions: [
    {
      name: 'sum',
      parameters: [U64],
      results: [U64],
      locals: [U64, struct('R')],
      code: [
        ['ld_u64', 0],
        ['st_loc', 1],
        { label: 'top' },
        ['copy_loc', 0],
        ['ld_u64', 0],
        ['eq'],
        ['br_true', 'end'],
        ['move_loc', 1],
        ['copy_loc', 0],
        ['call', { module: { ...SELF, name: 'lib' }, name: 'twice', parameters: [U64], results: [U64] }],
        ['add'],
        ['ld_const', { type: { kind: 'address' }, constant: parseAddress('0x42') }],
        ['imm_borrow_global', 'R'],
        ['imm_borrow_field', 'R.value'],
        ['read_ref'],
        ['add'],
        ['st_loc', 1],
        ['move_loc', 0],
        ['ld_u64', 1],
        ['sub'],
        ['st_loc', 0],
        ['branch', 'top'],
        { label: 'end' },
        ['move_loc', 1],
        ['ret'],
      ],
    },
  ],
}
const LIBRARY: Assembly = {
  name: 'lib',
  functions: [
    { name: 'twice', parameters: [U64], results: [U64], code: [['copy_loc', 0], ['move_loc', 0], ['add'], ['ret']] },
  ],
}

const CALL_OF_SUM = { address: parseAddress('0x42'), module: 'm', function: 'sum', typeArguments: [] }

describe('a run', () => {
  const state = new TestState([TURNS, LIBRARY])
  state.set(resourceKey(parseAddress('0x42'), parseStructTag('0x42::m::R')), u64(5))
  const expected = 20n * 21n + 5n * 20n

  it('stops after each instruction and continues, counting the same', () => {
    const whole = callView(createVm(), state, 'm::sum', [u64(20)], { turn: 1_000_000 })
    const pieces = callView(createVm(), state, 'm::sum', [u64(20)], { turn: 1 })
    expect(numberOf(whole)).toBe(expected)
    expect(pieces).toEqual(whole)
  })

  it('counts the same cold, warm, and if keys are loaded on the way', () => {
    const vm = createVm()
    const slow = new SlowState(state)
    const cold = callView(vm, state, 'm::sum', [u64(20)])
    expect(callView(vm, state, 'm::sum', [u64(20)])).toEqual(cold)
    expect(callView(createVm(), slow, 'm::sum', [u64(20)], { turn: 3 })).toEqual(cold)
    // One round each for the environment with the module, for the library, and for the resource.
    expect(slow.rounds).toBe(3)
  })

  it('reports every key that it used, warm as cold', () => {
    const vm = createVm()
    const trace = () => {
      const keys: string[] = []
      callView(vm, state, 'm::sum', [u64(2)], {
        traceRead(key, text, kind) {
          expect(text).toBe(Buffer.from(key).toString('hex'))
          keys.push(`${kind} ${text}`)
        },
      })
      return keys.sort()
    }
    const cold = trace()
    // The resource; two modules and four settings.
    expect(cold.filter((key) => key.startsWith('value '))).toHaveLength(1)
    expect(cold.filter((key) => key.startsWith('code '))).toHaveLength(6)
    expect(new Set(cold).size).toBe(cold.length)
    expect(trace()).toEqual(cold)
  })

  it('ignores results of tasks that it did not ask for, before it begins and after it has ended', () => {
    const vm = createVm()
    const call = { ...CALL_OF_SUM, arguments: [u64(20)] }
    const run = vm.startView(state, call)
    run.provide([])
    const end = run.advance(1_000_000)
    expect(end.kind).toBe('results')
    run.provide([])
    const { bytes } = run
    expect(vm.startView(state, call).advance(1_000_000)).toEqual(end)
    run.provide([])
    expect(run.advance(1)).toBe(end)
    expect(run.bytes).toBe(bytes)
  })

  it('sees the modules of its own state, whatever runs before saw', () => {
    const vm = createVm()
    const other = new TestState([
      TURNS,
      { ...LIBRARY, functions: [{ ...LIBRARY.functions[0]!, code: [['ld_u64', 1], ['ret']] }] },
    ])
    other.set(resourceKey(parseAddress('0x42'), parseStructTag('0x42::m::R')), u64(5))
    for (let round = 0; round < 3; round++) {
      expect(numberOf(callView(vm, state, 'm::sum', [u64(20)]))).toBe(expected)
      expect(numberOf(callView(vm, other, 'm::sum', [u64(20)]))).toBe(20n + 100n)
    }
  })

  it('counts the modules that it decodes: those that runs share are decoded once', () => {
    const vm = createVm()
    expect(vm.cache).toMatchObject({ size: 0, misses: 0, capacity: 64 << 20 })
    callView(vm, state, 'm::sum', [u64(20)])
    const { misses, size } = vm.cache
    expect(misses).toBe(2)
    expect(size).toBeGreaterThan(0)
    callView(vm, state, 'm::sum', [u64(20)])
    expect(vm.cache).toMatchObject({ misses, size })
  })

  it('asks once for each module of a state that has a revision, and sees the modules of other states', () => {
    const vm = createVm()
    const other = new TestState([
      TURNS,
      { ...LIBRARY, functions: [{ ...LIBRARY.functions[0]!, code: [['ld_u64', 1], ['ret']] }] },
    ])
    other.set(resourceKey(parseAddress('0x42'), parseStructTag('0x42::m::R')), u64(5))
    let asked = 0
    const told = (values: TestState, revision: string): ViewState => ({
      read: (key) => values.read(key),
      moduleRevision(key) {
        asked++
        return values.read(key) && revision
      },
      revision,
    })
    const read = (values: TestState, revision: string) => {
      const keys = new Set<string>()
      const traceRead = (key: Uint8Array) => keys.add(key.join())
      const answer = callView(vm, told(values, revision), 'm::sum', [u64(20)], { traceRead, turn: 10_000 })
      return { answer, keys: [...keys].sort() }
    }
    const plain = callView(createVm(), state, 'm::sum', [u64(20)])
    const first = read(state, '1')
    expect(first.answer).toEqual(plain)
    expect(asked).toBe(2)
    expect(read(state, '1')).toEqual(first)
    expect(asked).toBe(2)
    expect(numberOf(read(other, '2').answer)).toBe(20n + 100n)
    expect(read(state, '1')).toEqual(first)
    expect(numberOf(read(other, '2').answer)).toBe(20n + 100n)
    expect(read(state, '3')).toEqual(first)
  })

  it('reads the settings of the chain again if the revision of the state is another one', () => {
    const vm = createVm()
    const bare: ViewState = {
      read: (key) => (compareBytes(key, SCHEDULE_KEY) === 0 ? undefined : state.read(key)),
      revision: '2',
    }
    const told: ViewState = { read: (key) => state.read(key), revision: '1' }
    for (let round = 0; round < 2; round++) {
      expect(numberOf(callView(vm, told, 'm::sum', [u64(20)]))).toBe(expected)
      expect(callView(vm, bare, 'm::sum', [u64(20)]).fault?.name).toBe('VM_STARTUP_FAILURE')
    }
  })

  it.each([
    ['instructions', { instructions: 300 }, 4030],
    ['bytes', { bytes: 10 }, 4030],
    ['reads', { reads: 0 }, 4031],
    ['bytes of reads', { readBytes: 7 }, 4031],
    ['modules', { modules: 1 }, 1124],
    ['bytes of modules', { moduleBytes: 100 }, 1124],
  ])('ends when its %s end', (_, budget, code) => {
    const vm = createVm()
    for (const turn of [1_000_000, 1]) {
      const { fault, usage } = callView(vm, state, 'm::sum', [u64(20)], { budget, turn })
      expect(fault?.code).toBe(code)
      expect(usage.instructions).toBeLessThan(330)
    }
  })

  it('ends at the same instruction in turns of any size, cold and warm, wherever its budget ends', () => {
    const kinds = ['u8', 'u16', 'u32', 'u64', 'u128', 'u256', 'bool', 'address'] as const
    const code = kinds.flatMap((kind): AssemblyLine[] => [['vec_pack', struct('S', { kind }), 0], ['pop']])
    const packs = new TestState([
      {
        name: 'm',
        structs: [{ name: 'S', typeParameters: [0], fields: [['x', { kind: 'typeParameter', index: 0 }]] }],
        functions: [{ name: 'f', results: [U64], code: [...code, ['ld_u64', 1], ['ret']] }],
      },
    ])
    const vm = createVm()
    for (let instructions = 150; instructions < 320; instructions++) {
      const budget = { instructions }
      const whole = callView(vm, packs, 'm::f', [], { budget, turn: 1_000_000 })
      for (const turn of [1, 7]) expect(callView(vm, packs, 'm::f', [], { budget, turn })).toEqual(whole)
      expect(callView(createVm(), packs, 'm::f', [], { budget, turn: 3 })).toEqual(whole)
    }
  })

  it('ends when an endless loop has used up its budget', () => {
    const endless = new TestState([
      { name: 'm', functions: [{ name: 'f', results: [U64], code: [{ label: 'a' }, ['branch', 'a']] }] },
    ])
    const { fault, usage } = callView(createVm(), endless, 'm::f', [], { budget: { instructions: 100_000 } })
    expect(fault).toMatchObject({ code: 4030, name: 'EXECUTION_LIMIT_REACHED' })
    expect(usage.instructions).toBe(100_000)
  })
})

describe('code that no verifier lets pass', () => {
  const bad: Record<string, AssemblyLine[]> = {
    'an empty stack': [['add'], ['ret']],
    'operands of two types': [['ld_u64', 1], ['ld_u8', 1], ['add'], ['ret']],
    'a result of another type': [['ld_true'], ['ret']],
    'values left over': [['ld_u64', 1], ['ld_u64', 2], ['ret']],
    'no end': [['ld_u64', 1], ['pop']],
    'a branch with values on the stack': [['ld_u64', 1], ['branch', 'x'], { label: 'x' }, ['ret']],
    'a local that is not there': [['copy_loc', 9], ['ret']],
    'an entry that is not there': [['ld_const', 77], ['ret']],
    'a moved local': [['move_loc', 0], ['pop'], ['move_loc', 0], ['ret']],
    'a reference to a moved value': [['mut_borrow_loc', 0], ['move_loc', 0], ['pop'], ['read_ref'], ['ret']],
    'no code': [],
  }

  it.each(Object.entries(bad))('ends in a fault: %s', (_, code) => {
    const { call } = bed({ functions: [{ name: 'f', parameters: [U64], results: [U64], code }] })
    expect(faultOf(call('f', u64(1))).code).toBe(2006)
  })
})
