/**
 * Decides when a commit resolves, and therefore which commits a loss of power can undo. The end of a process undoes none.
 * - `full`: until the commit is on disk. No acknowledged commit is lost.
 * - `ordered`: for no sync. Commits are synced before they are merged, and at close. The newest commits may be lost, each
 *   as a whole; the store stays sound.
 * - `none`: for nothing. A loss of power may damage the store beyond use: for data that can be rebuilt, such as a first
 *   ingest.
 */
export type Durability = (typeof DURABILITIES)[number]

export const DURABILITIES = ['full', 'ordered', 'none'] as const
