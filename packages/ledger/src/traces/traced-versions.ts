import type { LedgerState } from '../state/ledger-state.js'
import type { ReadTrace } from './read-trace.js'

/**
 * Versions that wrote the values of a trace's keys, by the text of the key in hex; undefined if a key has no value in
 * this state. A view answers the same until one of these keys is written again.
 */
export function tracedVersions({ view }: LedgerState, trace: ReadTrace): ReadonlyMap<string, bigint | undefined> {
  return new Map(Array.from(trace.keys, ([text, key]) => [text, view.getEntry(key)?.version]))
}
