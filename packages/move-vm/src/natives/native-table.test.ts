import { addressToShortHex, isLedgerStateError } from '@ledger-state/core'
import { openSource } from '@ledger-state/feed'
import { type FunctionDefinition, readModuleInterface } from '@ledger-state/move-module'
import { hasSharedData, sharedPath } from '@ledger-state/testing/shared-data'
import { describe, expect, it } from 'vitest'
import { compareDeclaration } from './native-declaration.js'
import { NATIVES } from './native-table.js'
import { UNBUILT_NATIVES } from './unbuilt-natives.js'

const SOURCES = [
  'data/genesis/mainnet.genesis.blob',
  'data/genesis/testnet.genesis.blob',
  'data/genesis/devnet.genesis.blob',
  'data/testnet-0-3.feed.ndjson.gz',
  'conformance/fixture.ndjson.gz',
  'conformance/account-fixture.ndjson.gz',
  'conformance/views-marked-mainnet.ndjson.gz',
  'conformance/views-ops.ndjson.gz',
  'conformance/views-programs.ndjson.gz',
  'conformance/views-states-devnet.ndjson.gz',
]

/** Natives that frameworks declare and no node binds: compilers emit instructions in their place. */
const INSTRUCTIONS = ['empty', 'length', 'borrow', 'borrow_mut', 'push_back', 'pop_back', 'destroy_empty', 'swap'].map(
  (name) => `0x1::vector::${name}`,
)

/** The native functions of the frameworks, at addresses below 0x10, in the modules of a source. */
async function declaredNatives(path: string): Promise<Map<string, FunctionDefinition[]>> {
  const natives = new Map<string, FunctionDefinition[]>()
  const source = await openSource(sharedPath(path))
  try {
    for await (const { writes } of source.versions()) {
      for (const [key, value] of writes) {
        // An access path of code: the tag, the address with its length, and 0.
        if (!value || key[0] !== 0 || key[34] !== 0) continue
        for (const [name, one] of nativesOf(value)) natives.set(name, [...(natives.get(name) ?? []), one])
      }
    }
  } finally {
    await source.close()
  }
  return natives
}

function nativesOf(binary: Uint8Array): [string, FunctionDefinition][] {
  try {
    const { address, name: module, functions } = readModuleInterface(binary)
    if (address.subarray(0, 31).some((byte) => byte !== 0)) return []
    const natives = functions.filter(({ isNative }) => isNative)
    return natives.map((one) => [`${addressToShortHex(address)}::${module}::${one.name}`, one])
  } catch (error) {
    // One kit holds damaged modules, which are skipped.
    if (isLedgerStateError(error)) return []
    throw error
  }
}

describe('the natives', () => {
  it.skipIf(!hasSharedData).each(SOURCES)('include all that the modules of %s declare', async (path) => {
    const declared = await declaredNatives(path)
    expect(declared.size).toBeGreaterThan(20)
    expect([...declared.keys()].filter((name) => !NATIVES.has(name) && !INSTRUCTIONS.includes(name))).toEqual([])
    const others = [...declared].filter(([name, all]) => all.some((one) => !isExact(name, one)))
    expect(others.map(([name]) => name)).toEqual([])
  })

  it('that are not built are those that docs/views.md names', () => {
    expect(Object.keys(UNBUILT_NATIVES).filter((name) => !isAllowed(name))).toEqual([])
  })
})

function isExact(name: string, definition: FunctionDefinition): boolean {
  const declaration = compareDeclaration(name, definition)
  return declaration !== 'refused' && declaration.foreignResults.length === 0
}

function isAllowed(name: string): boolean {
  return /^0x1::(ristretto255_bulletproofs|confidential_range_proofs|state_storage)::|^0x7::/.test(name)
}
