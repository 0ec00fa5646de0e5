import { ByteWriter, parseAddress } from '@ledger-state/core'
import { readModuleCode, type SignatureToken } from '@ledger-state/move-module'
import { createRandom, testSeed } from '@ledger-state/testing/random'
import { hasSharedData } from '@ledger-state/testing/shared-data'
import { decodeStateKey, parseTypeTag } from '@ledger-state/type-tag'
import { describe, expect, it } from 'vitest'
import { toPooledBuffer } from '../testing/byte-forms.js'
import { MemoryLedger, type MemoryState, runView } from '../testing/kits.js'
import { createVm, type ViewCall, type ViewOutcome } from './index.js'

// Runs every view of every state that has a framework, with plain arguments. Each must end in results, an abort, or a
// fault for data that is absent, and in the same each time, in any order.

const FEEDS = [
  'data/genesis/mainnet.genesis.blob',
  'data/genesis/testnet.genesis.blob',
  'data/genesis/devnet.genesis.blob',
  'data/testnet-0-3.feed.ndjson.gz',
  'conformance/views-marked-mainnet.ndjson.gz',
  'conformance/views-states-devnet.ndjson.gz',
]

/**
 * Codes of aborts, arithmetic faults, vector faults, absent data, arguments that cannot be given, and abilities of type
 * arguments.
 */
const EXPECTED_FAULTS: ReadonlySet<number | undefined> = new Set([4016, 4017, 4018, 4008, 1011, 1100, 1075])
/** Natives that docs/views.md lists as missing. */
const MISSING = /^Missing Native Function `(verify_range_proof_internal|verify_batch_range_proof_internal)`$/

describe.skipIf(!hasSharedData)('all views of', () => {
  it.each(FEEDS)('%s end as views do', async (serve) => {
    const ledger = await MemoryLedger.load(serve)
    const state = ledger.at(ledger.latest)
    const vm = createVm()
    const calls = [...ledger.keys(ledger.latest)].flatMap((key) => callsOf(key, state))
    const random = createRandom(testSeed())
    const first = new Map<ViewCall, ViewOutcome>()
    const unexpected: string[] = []
    for (const order of [calls, random.shuffled(calls), random.shuffled(calls)]) {
      for (const call of order) {
        const outcome = runView(vm, state, call)
        const known = first.get(call)
        if (known) expect(outcome, `${call.module}::${call.function}, TEST_SEED=${testSeed()}`).toEqual(known)
        first.set(call, outcome)
        if (outcome.kind === 'results') continue
        const { code, message } = outcome.fault
        if (EXPECTED_FAULTS.has(code) || MISSING.test(message)) continue
        unexpected.push(`${call.module}::${call.function}: ${code} ${message}`)
      }
    }
    expect(unexpected).toEqual([])
  })
})

/** Calls of all views of the module with this key. */
function callsOf(key: Uint8Array, state: MemoryState): ViewCall[] {
  const named = decodeStateKey(key)
  if (named.kind !== 'module') return []
  const { functions, views } = readModuleCode(state.read(key)!)
  return functions
    .filter(({ name }) => views.has(name))
    .map((view) => ({
      address: named.address,
      module: named.name,
      function: view.name,
      typeArguments: view.typeParameters.map(() => parseTypeTag('0x1::aptos_coin::AptosCoin')),
      arguments: view.parameters.map((token) => toPooledBuffer(plainArgument(token))),
    }))
}

function plainArgument(token: SignatureToken): Uint8Array {
  const width = /^[ui](\d+)$/.exec(token.kind)?.[1]
  if (width) return new ByteWriter().unsigned(1, Number(width) / 8).toBytes()
  if (token.kind === 'bool') return Uint8Array.of(1)
  if (token.kind === 'address' || (token.kind === 'struct' && token.name === 'Object')) return parseAddress('0xa')
  return Uint8Array.of(0)
}
