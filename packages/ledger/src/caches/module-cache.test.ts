import { parseAddress } from '@ledger-state/core'
import { ABILITY, type SignatureToken, type StructDefinition, writeModule } from '@ledger-state/move-module'
import { moduleKey } from '@ledger-state/type-tag'
import { expect, it } from 'vitest'
import { engineOf } from '../../testing/engine-of.ts'
import { ModuleCache } from './module-cache.js'

const HOME = parseAddress('0xcafe')
const PART: SignatureToken = { kind: 'struct', module: { address: HOME, name: 'm' }, name: 'S0', typeArguments: [] }

/** Finds a module of `structs` structs with 200 fields each. */
async function find(structs: number, type: SignatureToken) {
  const fields = Array.from({ length: 200 }, (_, at) => ({ name: `f${at}`, type }))
  const definitions = Array.from({ length: structs }, (_, at): StructDefinition => {
    return { kind: 'struct', name: `S${at}`, abilities: ABILITY.store, typeParameters: [], fields }
  })
  const bytes = writeModule({ version: 7, address: HOME, name: 'm', structs: definitions })
  const view = (await engineOf([[moduleKey(HOME, 'm'), bytes]])).at()
  const cache = new ModuleCache()
  return { cache, read: () => cache.find(view, { address: HOME, name: 'm' })!.read() }
}

it.each([
  ['numbers', 160, { kind: 'u8' }],
  ['structs', 160, PART],
  ['generic structs', 53, { ...PART, typeArguments: [PART, PART] }],
] as const)('a ModuleCache keeps the largest modules that are read: those with %s', async (_, structs, type) => {
  const { cache, read } = await find(structs, type)
  expect(read()).toBe(read())
  expect(cache.size).toBeGreaterThan(1 << 20)
})

it('a ModuleCache refuses a module that is larger than its limit', async () => {
  const { read } = await find(164, { kind: 'u8' })
  expect(read).toThrow(expect.objectContaining({ code: 'invalid_module' }))
})
