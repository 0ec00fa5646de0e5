import type { IncomingMessage, ServerResponse } from 'node:http'
import type { AsyncLedger, Ledger } from '@ledger-state/ledger'
import type { HoldLimits } from '../admission/held-requests.js'
import type { LoadLimits } from '../admission/load-shedder.js'
import type { UploadLimits } from '../admission/uploads.js'
import type { RequestExamples } from '../document/request-example.js'
import type { ForwardLimits, ForwardOptions } from '../forward/forward-options.js'
import type { StateProofs } from '../operations/state-proofs.js'
import type { ReadTrust } from '../operations/trust.js'
import type { ViewServiceOptions } from '../operations/view-rules.js'
import type { OutputFormat } from '../protocol/media-types.js'

/** One answer, as metrics count it. */
export interface AnswerReport {
  readonly method: string
  readonly url: string
  /** The path as the OpenAPI document has it; `other` where there is none, `unreadable` for what never became a request. */
  readonly route: string
  /** 499 where the client left before its answer. */
  readonly status: number
  /** Seconds from the end of the headers on, also while the request was held for a version. */
  readonly seconds: number
}

export const DEFAULT_HEADER_WORD = 'svc'

/** What is served, and within which limits; `DEFAULT_LIMITS` has those that hold where none are given. */
export interface RequestListenerOptions
  extends Partial<LoadLimits>,
    Partial<UploadLimits>,
    Partial<HoldLimits>,
    Partial<ForwardLimits>,
    ViewServiceOptions {
  readonly ledger: Ledger | AsyncLedger
  /** Word in the names of the chain-state headers: `x-<word>-ledger-version`. Default `svc`. */
  readonly headerWord?: string
  /**
   * Whether the chain-state headers and the cursor are also sent as `x-aptos-…`, which published clients read. Default
   * true; without them an answer is some 280 bytes shorter.
   */
  readonly compatibleHeaders?: boolean
  /** The least price of a gas unit that `/v1/estimate_gas_price` answers with; by default what the ledger's schedule allows. */
  readonly leastGasEstimate?: bigint
  /** How far the ledger is signed, as `/v1/-/trust` says; by default nothing vouches for it. */
  readonly readTrust?: ReadTrust
  /** Name of the ledger's network, as `/v1/-/trust` says it; by default it has none. */
  readonly network?: string | undefined
  /** Source of the proofs of reads with `?proof=true`; by default there are none. */
  readonly proofs?: StateProofs | undefined
  /** Formats that are answered with; both by default. */
  readonly output?: Readonly<Record<OutputFormat, boolean>>
  /** Largest request body, also after decompression. */
  readonly bodyLimitBytes?: number
  /** Absolute URL, ending in `/v1`, of a service that keeps versions which this one has pruned. */
  readonly archivalEndpoint?: string
  /** Which operations that this service does not answer itself go to which upstreams; by default none. */
  readonly forward?: ForwardOptions
  /**
   * Called for requests for paths outside `/v1`: answers the request and returns true, or returns false, and the service
   * answers 404. Bodies of such requests are discarded.
   */
  readonly otherRequests?: (request: IncomingMessage, response: ServerResponse) => boolean
  /** The examples of the OpenAPI document and of `/v1/spec`, by the id of their operation; the others have one that fits any ledger. */
  readonly examples?: RequestExamples
  /** Called for faults of the service, which clients see as 500 without details. */
  readonly onUnexpectedError?: (error: unknown, request: { method: string; url: string }) => void
  /** Called for every answer when it is handed to its socket, and for clients that left before theirs. */
  readonly onAnswered?: (answered: AnswerReport) => void
}
