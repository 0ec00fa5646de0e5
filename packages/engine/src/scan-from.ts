import type { KeyedEntry } from '@ledger-state/core'
import type { ScanOptions, StateView } from './ports/state-port.js'

const NOTHING: readonly KeyedEntry[] = []

/** Scans the keys with a prefix, starting at a cursor. A cursor of another prefix yields nothing. */
export function scanFrom(view: StateView, prefix: Uint8Array, options: ScanOptions): Iterable<KeyedEntry> {
  const { start } = options
  return start === undefined || startsWith(start, prefix) ? view.scan(prefix, options) : NOTHING
}

function startsWith(bytes: Uint8Array, prefix: Uint8Array): boolean {
  return prefix.every((byte, at) => bytes[at] === byte)
}
