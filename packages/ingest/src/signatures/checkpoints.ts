import type { AsyncSnapshot } from '@ledger-state/engine'
import type { SignedCheckpoint } from '@ledger-state/proof'
import { bytesToCheckpoint, CHECKPOINT_KEY } from '@ledger-state/records'
import { pendingValues } from './pending-writes.js'

/**
 * The newest signed checkpoint of a store; undefined if it has none. Its version may be pruned.
 * @param written value of the store under `CHECKPOINT_KEY`
 * @param mark of the newest commit
 * @example
 * ```ts
 * import { newestCheckpoint } from '@ledger-state/ingest'
 *
 * console.log(newestCheckpoint(undefined, undefined)) // undefined
 * ```
 */
export function newestCheckpoint(
  written: Uint8Array | undefined,
  mark: Uint8Array | undefined,
): SignedCheckpoint | undefined {
  const pending = pendingValues(mark)(CHECKPOINT_KEY)
  const [a, b] = [written, pending].map((bytes) => bytes && bytesToCheckpoint(bytes))
  return a && b && b.version < a.version ? a : (b ?? a)
}

/** The newest signed checkpoint of a snapshot, which must have a ledger. */
export async function readNewestCheckpoint(state: AsyncSnapshot): Promise<SignedCheckpoint | undefined> {
  const [written] = await state.at().load([CHECKPOINT_KEY])
  return newestCheckpoint(written?.value, state.mark)
}
