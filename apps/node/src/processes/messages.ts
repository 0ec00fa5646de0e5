import type { LedgerSummary } from '@ledger-state/engine'
import type { MetricSnapshot } from '../observability/merge-metrics.js'

/** A message from a process to its supervisor. */
export type ProcessMessage =
  | {
      /** Sent at intervals while the process works, so that the supervisor notices a process that hangs. */
      readonly type: 'report'
      readonly ledger: LedgerSummary | undefined
      /** Reason why the store cannot be served as it should be; undefined if it can. */
      readonly storeFault: string | undefined
      readonly metrics: readonly MetricSnapshot[]
    }
  | {
      /** Sent once, before the process ends. */
      readonly type: 'failed'
      readonly code: string | undefined
      readonly message: string
    }
  | ReaderReply

/** A message from a reader about an offered connection. */
export interface ReaderReply {
  /**
   * `late`: the offer had expired. `full`: the reader has no room. `stopping`: the reader takes no more connections.
   */
  readonly type: 'taken' | 'late' | 'full' | 'stopping'
  /** Number of the offer; 0 if the reader says that it stops before it is offered anything. */
  readonly offer: number
}

/** A message from the supervisor to a reader, together with a connection. */
export interface ConnectionOffer {
  readonly type: 'offer'
  readonly offer: number
  /**
   * Time on the monotonic clock that all processes share, in nanoseconds. From then on another reader may have the
   * connection.
   */
  readonly takenBefore: bigint
}

export const REPORT_INTERVAL_MS = 1_000

/** Environment variable with the settings of a process, as JSON. */
export const SETTINGS_VARIABLE = 'LEDGER_STATE_PROCESS'
