import type { LedgerInfo } from '@ledger-state/core'
import type { MetricSnapshot } from '../observability/merge-metrics.js'

/** From a process to its supervisor. */
export type ProcessMessage =
  | {
      /** Sent at intervals while the process works, so that the supervisor notices one that hangs. */
      readonly type: 'report'
      readonly ledger: LedgerInfo | undefined
      readonly metrics: readonly MetricSnapshot[]
    }
  | {
      /** Sent once, before the process ends. */
      readonly type: 'failed'
      readonly code: string | undefined
      readonly message: string
    }

/** From the supervisor to a reader, together with a connection. */
export const TAKE_CONNECTION = 'connection'

export const REPORT_INTERVAL_MS = 1_000
