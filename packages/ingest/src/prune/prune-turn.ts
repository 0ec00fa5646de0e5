import type { AsyncStateWriter, StateWriter } from '@ledger-state/engine'

/** Entries that are pruned in one turn while no commit waits, in about 20 ms. */
export const PRUNE_TURN_ENTRIES = 10_000

/** Callback for metrics about turns of pruning. */
export interface PruneObserver {
  /** Called with the number of entries that were dropped, and the seconds that it took. */
  onPrune(done: { readonly entries: number; readonly seconds: number }): void
}

/** Prunes a store to a window, at most `maxEntries` entries. Returns whether nothing is left to prune. */
export async function pruneTurn(
  engine: Pick<StateWriter | AsyncStateWriter, 'ledger' | 'prune'>,
  retain: bigint,
  maxEntries: number,
  observer: PruneObserver | undefined,
): Promise<boolean> {
  if (!engine.ledger) return true
  const began = performance.now()
  const { droppedEntries, done } = await engine.prune(retain, { maxEntries })
  if (droppedEntries > 0) {
    observer?.onPrune({ entries: droppedEntries, seconds: (performance.now() - began) / 1_000 })
  }
  return done
}
