import { STATE_ROOT_KEY, type Write } from '@ledger-state/core'

/** The writes of a version, and the root of the state after it, where the ledger has one. */
export function withStateRoot(writes: Write[], stateRoot: Uint8Array | undefined): Write[] {
  if (stateRoot) writes.push([STATE_ROOT_KEY, stateRoot])
  return writes
}
