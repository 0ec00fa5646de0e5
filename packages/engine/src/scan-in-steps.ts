import type { KeyedEntry } from '@ledger-state/core'
import type { ScanOptions, StateView } from './ports/state-port.js'

/** Keys that a scan has passed because the version does not have them: other versions do. */
export interface SkippedKeys {
  /** The last key that the scan has passed. */
  readonly key: Uint8Array
  /** Number of keys that it has passed since the last step of this kind. */
  readonly skipped: number
}

/** An entry of a scan, or keys that it has skipped. */
export type ScanStep = KeyedEntry | SkippedKeys

/** A view that can tell during a scan that it has worked without finding an entry. */
export interface SteppingView extends StateView {
  /** Same as `scan`, with a step after a few hundred keys at most, even if the version has none of them. */
  scanInSteps?(prefix: Uint8Array, options?: ScanOptions): Iterable<ScanStep>
}

/**
 * Scans the keys with a prefix so that the caller can pause: a version may lack most keys of a
 * store. A view without steps is scanned as usual.
 */
export function scanInSteps(view: SteppingView, prefix: Uint8Array, options: ScanOptions): Iterable<ScanStep> {
  return view.scanInSteps?.(prefix, options) ?? view.scan(prefix, options)
}

/** Whether a step of a scan has no entry. */
export function isSkipped(step: ScanStep): step is SkippedKeys {
  return 'skipped' in step
}
