import type { Truncation } from '@ledger-state/engine'
import type { LedgerRecord } from './ledger-record.js'
import type { SegmentRow } from './segment-rows.js'

/** The ledger as one state of LMDB has it, without the commits of the WAL files. */
export interface MergedState {
  readonly record: LedgerRecord
  readonly truncations: readonly Truncation[]
  /** Segment files, the oldest first. */
  readonly segmentRows: readonly SegmentRow[]
}
