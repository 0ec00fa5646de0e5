import { parseAddress } from '@ledger-state/core'
import type { AssembledFunction, Assembly, SignatureToken } from '@ledger-state/move-module'
import { describe, expect, it } from 'vitest'
import { callView, TestState } from '../../testing/test-state.js'
import { createVm } from '../index.js'
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
  expect(outcome.fault?.message).toContain('is declared as what it is not')
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
})
