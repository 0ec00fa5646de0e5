import { parseAddress, type Write } from '@ledger-state/core'
import { engineToAsync } from '@ledger-state/engine'
import { ABILITY, type SignatureToken, writeModule } from '@ledger-state/move-module'
import { moduleKey, parseTypeTag, tableItemKey } from '@ledger-state/type-tag'
import { expect, it } from 'vitest'
import { engineOf } from '../../testing/engine-of.ts'
import { createLedger } from '../state/create-ledger.js'
import type { Ledger } from '../state/ledger.js'
import { valueToJson } from '../transactions/render/render-context.js'
import { createAsyncLedger } from './async-ledger.js'
import { KnownModules } from './known-modules.js'
import { LoadBudget } from './load-budget.js'
import { LoadedState } from './loaded-state.js'

const HANDLE = parseAddress('0x7ab1e')
const HOME = parseAddress('0xcafe')
const DEPTH = 4

it('makes a part of an answer again while it lacks something, and after the ledger has moved on', async () => {
  const keys = [1, 2].map((at) => tableItemKey(HANDLE, Uint8Array.of(at)))
  const engine = engineToAsync(await engineOf(keys.map((key, at): Write => [key, Uint8Array.of(at + 7)])))
  const state = new LoadedState(await engine.snapshot(), new KnownModules(1 << 20), new LoadBudget(1 << 20))
  const made: string[] = []
  const ask = (names: readonly string[]) =>
    names.map((name) =>
      state.makeOnce(name, () => {
        made.push(name)
        // Both parts need the first key.
        const needed = name === 'one' ? keys.slice(0, 1) : keys
        return needed.map((key) => state.at().get(key)?.join()).join(' ')
      }),
    )
  ask(['one', 'both', 'one'])
  await state.load()
  expect(ask(['one', 'both', 'one', 'both'])).toEqual(['7', '7 8', '7', '7 8'])
  expect(made).toEqual(['one', 'both', 'one', 'one', 'both'])
  state.moveTo(await engine.snapshot())
  ask(['both', 'one', 'both'])
  expect(made.slice(5)).toEqual(['both', 'one'])
})

it('may not hold more parts of an answer than bytes that a read may load', async () => {
  const engine = engineToAsync(await engineOf([[tableItemKey(HANDLE, Uint8Array.of(1)), Uint8Array.of(1)]]))
  const state = new LoadedState(await engine.snapshot(), new KnownModules(1 << 20), new LoadBudget(10_000))
  const make = (name: string) => state.makeOnce(name, () => 'x'.repeat(4_000))
  make('first')
  make('second')
  expect(() => make('third')).toThrow(expect.objectContaining({ code: 'read_too_large' }))
})

/** Modules in a chain: each has a struct with a field of the next one's. */
function chain(): Write[] {
  return Array.from({ length: DEPTH }, (_, at): Write => {
    const next = { module: { address: HOME, name: `m${at + 1}` }, name: 'S', typeArguments: [] }
    const type: SignatureToken = at + 1 < DEPTH ? { kind: 'struct', ...next } : { kind: 'u8' }
    const fields = [{ name: 'inner', type }]
    const structs = [{ kind: 'struct' as const, name: 'S', abilities: ABILITY.store, typeParameters: [], fields }]
    return [moduleKey(HOME, `m${at}`), writeModule({ version: 7, address: HOME, name: `m${at}`, structs })]
  })
}

it('a value without a type is one in the end, even if its neighbours lack their types for longer', async () => {
  const engine = await engineOf(chain())
  const types = ['0xcafe::m0::S', '0xcafe::absent::S', '0xcafe::m1::S', '0xcafe::m0::Absent'].map(parseTypeTag)
  const print = (ledger: Ledger) => {
    const { source, view } = ledger.at()
    return types.map((type, at) => {
      const make = () => valueToJson({ types: source.types, view }, type, Uint8Array.of(5)) ?? 'unknown'
      return source.loading ? source.loading.makeOnce(`value ${at}`, make) : make()
    })
  }
  const right = print(createLedger(engine))
  expect(right.filter((text) => text === 'unknown')).toHaveLength(2)
  const asyncLedger = createAsyncLedger(engineToAsync(engine))
  for (let time = 0; time < 2; time++) expect(await asyncLedger.read(print)).toEqual(right)
})
