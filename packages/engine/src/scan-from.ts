import type { KeyedEntry } from '@ledger-state/core'
import { beginsWith } from '@ledger-state/core/bytes'
import type { ScanOptions, StateView } from './ports/state-port.js'

const NOTHING: readonly KeyedEntry[] = []

/** Scans the keys with a prefix, starting at a cursor. A cursor of another prefix yields nothing. */
export function scanFrom(view: StateView, prefix: Uint8Array, options: ScanOptions): Iterable<KeyedEntry> {
  const { start } = options
  return start === undefined || beginsWith(start, prefix) ? view.scan(prefix, options) : NOTHING
}
