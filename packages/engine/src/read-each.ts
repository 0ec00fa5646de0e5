import type { StateEntry, StateView } from './ports/state-port.js'

/** Takes the entry of a key; undefined if the version has none. */
export type EntryVisitor = (key: Uint8Array, entry: StateEntry | undefined) => void

/** A view that can read many keys from a disk at the same time. */
export interface ParallelView extends StateView {
  /** Same as `getEntry` for each of the keys, in any order. Keys in memory are visited before the call returns. */
  readEach?(keys: readonly Uint8Array[], visit: EntryVisitor): Promise<void>
}

/** Reads the entries of keys, in any order; those on a disk at the same time, if the view can do that. */
export async function readEach(view: ParallelView, keys: readonly Uint8Array[], visit: EntryVisitor): Promise<void> {
  if (view.readEach) await view.readEach(keys, visit)
  else for (const key of keys) visit(key, view.getEntry(key))
}
