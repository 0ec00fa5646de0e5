import type { AsyncStateSnapshot } from '@ledger-state/engine'
import { ACCUMULATOR_ROOT_KEY } from '@ledger-state/records'

/** Root of the ledger's accumulator after a version, if the store keeps it. */
export async function rootAt(store: AsyncStateSnapshot, version: bigint): Promise<Uint8Array | undefined> {
  const { revisions } = await store.history(ACCUMULATOR_ROOT_KEY, { first: version, last: version, limit: 1 })
  return revisions[0]?.value ?? undefined
}
