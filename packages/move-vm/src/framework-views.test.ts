import { ByteWriter, parseAddress } from '@ledger-state/core'
import { readModuleCode, type SignatureToken } from '@ledger-state/move-module'
import { hasSharedData } from '@ledger-state/testing/shared-data'
import { decodeStateKey, parseTypeTag } from '@ledger-state/type-tag'
import { describe, expect, it } from 'vitest'
import { MemoryLedger, runView } from '../testing/kits.js'
import { createVm } from './index.js'

// Runs every view of every state that has a framework, with plain arguments. Each must end in results, an abort, or a
// fault for data that is absent.

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
    const unexpected: string[] = []
    for (const key of ledger.keys(ledger.latest)) {
      const named = decodeStateKey(key)
      if (named.kind !== 'module') continue
      const { functions, views } = readModuleCode(state.read(key)!)
      for (const view of functions.filter(({ name }) => views.has(name))) {
        const call = {
          address: named.address,
          module: named.name,
          function: view.name,
          typeArguments: view.typeParameters.map(() => parseTypeTag('0x1::aptos_coin::AptosCoin')),
          arguments: view.parameters.map(plainArgument),
        }
        const outcome = runView(vm, state, call)
        if (outcome.kind === 'results') continue
        const { code, message } = outcome.fault
        if (EXPECTED_FAULTS.has(code) || MISSING.test(message)) continue
        unexpected.push(`${named.name}::${view.name}: ${code} ${message}`)
      }
    }
    expect(unexpected).toEqual([])
  })
})

function plainArgument(token: SignatureToken): Uint8Array {
  const width = /^[ui](\d+)$/.exec(token.kind)?.[1]
  if (width) return new ByteWriter().unsigned(1, Number(width) / 8).toBytes()
  if (token.kind === 'bool') return Uint8Array.of(1)
  if (token.kind === 'address' || (token.kind === 'struct' && token.name === 'Object')) return parseAddress('0xa')
  return Uint8Array.of(0)
}
