import { ByteReader, parseAddress } from '@ledger-state/core'
import type { Assembly, SignatureToken } from '@ledger-state/move-module'
import { parseStructTag, resourceKey } from '@ledger-state/type-tag'
import { describe, expect, it } from 'vitest'
import { callView, TestState, type ViewAnswer } from '../../testing/test-state.js'
import { createVm } from '../index.js'

const U64: SignatureToken = { kind: 'u64' }
const OWNER = parseAddress('0x42')
const PART: SignatureToken = {
  kind: 'struct',
  module: { address: OWNER, name: 'parts' },
  name: 'Part',
  typeArguments: [],
}
/** Parts of `Held`; their layouts have more than 512 nodes together once a part has more than 127 fields. */
const PARTS = 4

const HOLDER: Assembly = {
  name: 'm',
  structs: [
    {
      name: 'Held',
      abilities: 8,
      fields: Array.from({ length: PARTS }, (_, at): [string, SignatureToken] => [`part${at}`, PART]),
    },
  ],
  functions: [
    {
      name: 'f',
      results: [U64],
      code: [
        ['ld_const', { type: { kind: 'address' }, constant: OWNER }],
        ['exists', 'Held'],
        ['pop'],
        ['ld_u64', 7],
        ['ret'],
      ],
    },
  ],
}

/** A state whose `Part` is an enum with an empty variant and one of `fields` fields. */
function stateOf(fields: number): TestState {
  const wide = Array.from({ length: fields }, (_, at): [string, SignatureToken] => [`x${at}`, U64])
  const variants = [
    { name: 'None', fields: [] },
    { name: 'Some', fields: wide },
  ]
  const state = new TestState([
    HOLDER,
    { name: 'parts', structs: [{ name: 'Part', variants }], functions: [] },
    { name: 'user', functions: [] },
  ])
  state.set(resourceKey(OWNER, parseStructTag('0x42::m::Held')), new Uint8Array(PARTS))
  return state
}

const TOO_MANY = {
  code: 2006,
  message: 'Number of type nodes when constructing type layout exceeded the maximum of 512',
}

const keysOf = (state: TestState, vm = createVm(), budget = {}): ViewAnswer & { readonly keys: number } => {
  let keys = 0
  const answer = callView(vm, state, 'm::f', [], { budget, traceRead: () => keys++ })
  return { ...answer, keys }
}

describe('a layout that another run has made', () => {
  it('is too large for a type at that version only', () => {
    const [small, large] = [stateOf(10), stateOf(200)]
    const vm = createVm()
    expect(callView(vm, large, 'm::f').fault).toMatchObject(TOO_MANY)
    const { results, fault } = callView(vm, small, 'm::f')
    expect(fault).toBeUndefined()
    expect(new ByteReader(results![0]!).readU64()).toBe(7n)
    expect(callView(vm, large, 'm::f').fault).toMatchObject(TOO_MANY)
  })

  it('costs the same in a run that ends with a fault, cold and warm', () => {
    const state = stateOf(100)
    const whole = keysOf(state).usage
    const budgets = [
      {},
      ...Array.from({ length: 12 }, (_, at) => ({ instructions: Math.ceil((whole.instructions * at) / 11) })),
      ...Array.from({ length: 12 }, (_, at) => ({ bytes: Math.ceil((whole.bytes * at) / 11) })),
      { modules: 1 },
      { moduleBytes: whole.moduleBytes - 1 },
    ]
    const vm = createVm()
    keysOf(state, vm)
    for (const budget of budgets) expect(keysOf(state, vm, budget)).toEqual(keysOf(state, createVm(), budget))
  })

  it('costs the same if it is too large, cold and warm', () => {
    const state = stateOf(200)
    const vm = createVm()
    keysOf(state, vm)
    expect(keysOf(state, vm)).toEqual(keysOf(state))
  })
})
