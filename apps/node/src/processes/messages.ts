import type { LedgerInfo } from '@ledger-state/core'
import type { MetricSnapshot } from '../observability/merge-metrics.js'

/** What a process tells its supervisor. */
export type ProcessMessage =
  | {
      /** It does its work; again and again, so that one that hangs is noticed. */
      readonly type: 'report'
      readonly ledger: LedgerInfo | undefined
      readonly metrics: readonly MetricSnapshot[]
    }
  | {
      /** Its last words. */
      readonly type: 'failed'
      readonly code: string | undefined
      readonly message: string
    }

/** What a supervisor tells a reader; a connection comes along. */
export const TAKE_CONNECTION = 'connection'

export const REPORT_INTERVAL_MS = 1_000
