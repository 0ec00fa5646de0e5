import type { IncomingMessage, ServerResponse } from 'node:http'
import type { AsyncLedger, Ledger } from '@ledger-state/ledger'
import type { HoldLimits } from '../admission/held-requests.js'
import type { LoadLimits } from '../admission/load-shedder.js'
import type { UploadLimits } from '../admission/uploads.js'
import type { ChangeSource } from '../changes/change-source.js'
import type { StreamLimits } from '../changes/stream-places.js'
import type { RequestExamples } from '../document/request-example.js'
import type { ForwardLimits, ForwardOptions } from '../forward/forward-options.js'
import type { StateProofs } from '../operations/parts/state-proofs.js'
import type { ViewServiceOptions } from '../operations/parts/view-rules.js'
import type { ReadTrust } from '../operations/trust.js'
import type { OutputFormat } from '../protocol/media-types.js'

/** Report on one answer, for metrics. */
export interface AnswerReport {
  readonly method: string
  readonly url: string
  /** Path as in the OpenAPI document; `other` if it has none, `unreadable` for bytes that never became a request. */
  readonly route: string
  /** Status; 499 if the client left before its answer. */
  readonly status: number
  /** Seconds since the end of the headers, including the time that the request waited for a version. */
  readonly seconds: number
}

export const DEFAULT_HEADER_WORD = 'svc'

/** Options and limits of the service; `DEFAULT_LIMITS` has the default limits. */
export interface RequestListenerOptions
  extends Partial<LoadLimits>,
    Partial<UploadLimits>,
    Partial<HoldLimits>,
    Partial<StreamLimits>,
    Partial<ForwardLimits>,
    ViewServiceOptions {
  readonly ledger: Ledger | AsyncLedger
  /** Word in the names of the chain-state headers: `x-<word>-ledger-version`. Default `svc`. */
  readonly headerWord?: string
  /**
   * Whether the chain-state headers and the cursor are also sent as `x-aptos-…`, which published clients read. Default
   * true; without them an answer is about 280 bytes shorter.
   */
  readonly compatibleHeaders?: boolean
  /**
   * Least price of a gas unit in the answers of `/v1/estimate_gas_price`; by default the least that the ledger's
   * schedule allows.
   */
  readonly leastGasEstimate?: bigint
  /** Reads the signatures that `/v1/-/trust` reports; by default nothing verifies the ledger. */
  readonly readTrust?: ReadTrust
  /** Name of the ledger's network in `/v1/-/trust`; by default it has none. */
  readonly network?: string | undefined
  /** Source of the proofs of reads with `?proof=true`; by default there are none. */
  readonly proofs?: StateProofs | undefined
  /** Source of the writes of versions for `/v1/stream`; by default there are no streams. */
  readonly changes?: ChangeSource | undefined
  /** Formats of answers; both by default. */
  readonly output?: Readonly<Record<OutputFormat, boolean>>
  /** Largest request body as it is sent. A compressed one may have at most 1 MiB, and no more than this, once decompressed. */
  readonly bodyLimitBytes?: number
  /** Absolute URL, ending in `/v1`, of a service that keeps versions which this one has pruned. */
  readonly archivalEndpoint?: string
  /**
   * Milliseconds by which one of several processes that serve the same store behind the same address may see a commit later
   * than another. A request waits so long for a version, a block or a time a little above the latest, and for an unknown
   * transaction, which another process may have shown. Default 0, for a single process.
   */
  readonly spreadMs?: number
  /**
   * Makes the next read of the ledger see everything that other processes have read so far. With `spreadMs`, such a
   * request is then decided at once and waits for nothing.
   */
  readonly refresh?: () => void
  /** Upstreams for operations that this service does not answer itself; by default none. */
  readonly forward?: ForwardOptions
  /**
   * Called with requests for paths outside `/v1`. It answers the request and returns true, or returns false, and the
   * service answers 404. Bodies of such requests are discarded.
   */
  readonly otherRequests?: (request: IncomingMessage, response: ServerResponse) => boolean
  /**
   * Examples of the OpenAPI document and of `/v1/spec`, by the id of their operation. Other operations have examples
   * that fit any ledger.
   */
  readonly examples?: RequestExamples
  /** Called with faults of the service, which clients see as 500 without details. */
  readonly onUnexpectedError?: (error: unknown, request: { method: string; url: string }) => void
  /** Called for every answer when it is handed to its socket, and for clients that left before theirs. */
  readonly onAnswered?: (answered: AnswerReport) => void
}
