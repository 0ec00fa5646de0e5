import { bytesToHex } from '@ledger-state/core'
import { createMemoryEngine, type StateWriter } from '@ledger-state/engine'
import { openSource } from '@ledger-state/feed'
import { sharedPath } from '@ledger-state/testing/shared-data'
import { decodeStateKey } from '@ledger-state/type-tag'

export interface AccountFixture {
  readonly engine: StateWriter
  /** Addresses, in hex, of all accounts that have a module, a resource or a group. */
  readonly addresses: readonly string[]
}

/** Loads the ledger of the conformance kit that has accounts. */
export async function loadAccountFixture(): Promise<AccountFixture> {
  const engine = createMemoryEngine()
  const source = await openSource(sharedPath('conformance/account-fixture.ndjson.gz'))
  const addresses = new Set<string>()
  for await (const record of source.versions()) {
    for (const [key] of record.writes) {
      const decoded = decodeStateKey(key)
      if ('address' in decoded) addresses.add(bytesToHex(decoded.address))
    }
    await engine.commit([record], { chainId: source.chainId! })
  }
  return { engine, addresses: [...addresses] }
}
