import { parseAddress, type VersionWrites } from '@ledger-state/core'
import { createMemoryEngine, engineToAsync } from '@ledger-state/engine'
import { ABILITY, type FieldDefinition, writeModule } from '@ledger-state/move-module'
import { moduleKey, parseTypeTag } from '@ledger-state/type-tag'
import { expect, it } from 'vitest'
import { KnownModules } from '../async/known-modules.js'
import { CachedTypeResolver } from '../types/type-resolver.js'
import { ModuleCache } from './module-cache.js'

const HOME = parseAddress('0xcafe')
const KEY = moduleKey(HOME, 'm')
const CHAIN = { chainId: 1 }

/** A version that publishes a module with one struct, which has these fields. */
function publishing(version: bigint, names: readonly string[]): VersionWrites {
  const fields = names.map((name): FieldDefinition => ({ name, type: { kind: 'u8' } }))
  const struct = { kind: 'struct', name: 'S', abilities: ABILITY.store, typeParameters: [], fields } as const
  const module = writeModule({ version: 7, address: HOME, name: 'm', structs: [struct] })
  return { version, block: { height: version, epoch: 0n, timestampUsec: 0n }, writes: [[KEY, module]] }
}

it('a ledger resolves a type by the module of its branch, after a truncation and a commit under the same number', async () => {
  const engine = createMemoryEngine()
  await engine.commit([publishing(0n, ['zero']), publishing(1n, ['old'])], CHAIN)
  const types = new CachedTypeResolver(new ModuleCache())
  const layout = () => JSON.stringify(types.resolve(parseTypeTag('0xcafe::m::S'), engine.at()).layout)
  expect(layout()).toContain('old')
  await engine.truncateTo(0n)
  expect(layout()).toContain('zero')
  await engine.commit([publishing(1n, ['new', 'newer'])], CHAIN)
  expect(layout()).toContain('newer')
})

it('a ledger keeps modules of async state for one branch', async () => {
  const engine = createMemoryEngine()
  const promising = engineToAsync(engine)
  await engine.commit([publishing(0n, ['zero']), publishing(1n, ['old'])], CHAIN)
  const modules = new KnownModules(1 << 20)
  const before = (await promising.snapshot()).at()
  await modules.load(before, [KEY])
  const text = Buffer.from(KEY).toString('hex')
  expect(modules.find(text, 1n, before.ledger)?.version).toBe(1n)
  await engine.truncateTo(0n)
  await engine.commit([publishing(1n, ['new'])], CHAIN)
  const after = (await promising.snapshot()).at()
  expect(modules.find(text, 1n, after.ledger)).toBeUndefined()
  const [loaded] = await modules.load(after, [KEY])
  expect(modules.find(text, 1n, after.ledger)).toEqual(loaded)
  // A module that a read of the earlier branch loads is neither kept nor returned to that branch.
  expect(modules.find(text, 1n, before.ledger)).toBeUndefined()
})
