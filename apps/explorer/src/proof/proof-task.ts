import type { ReadQuestion, ViewQuestion } from '@ledger-state/light-client'

/** A call of a view that the page runs itself. */
export interface CallQuestion {
  readonly kind: 'view'
  readonly call: ViewQuestion
}

/** A question whose answer the page verifies. */
export type ProvableQuestion = ReadQuestion | CallQuestion

/** An answer with its proof, and the trust to verify it against. */
export interface ProofTask {
  /** Body of the answer as JSON. */
  readonly answer: string
  readonly question: ProvableQuestion
  readonly version: string
  readonly waypoint: string
  /** The word before the name of each hash; null if the node does not give it. */
  readonly hashSalt: string | null
  /** URL of the node's API, ending in `/v1`. */
  readonly url: string
}

/** Result of a verified proof. */
export interface Believed {
  /** The proven value as JSON; null if it is proven to be absent. */
  readonly json: string | null
  /** The JSON that a node may show for an absent value; null if there is none. */
  readonly impliedJson: string | null
  /** Number of values from which the page computed the answer; null if it is a stored value. */
  readonly computedFrom: number | null
  readonly epoch: string
  /** Number of validators that signed, and of all; null if the waypoint is trusted. */
  readonly count: { readonly signed: number; readonly total: number } | null
  readonly timestampUsec: string
}

/** Result of a proof. `unavailable` if the node gave no proof, or only parts of it. */
export type ProofResult =
  | { readonly believed: Believed }
  | { readonly refused: string }
  | { readonly unavailable: string }

/** Progress: the epoch with verified validators, and the epoch of the signers. */
export interface Reached {
  readonly epoch: string
  readonly lastEpoch: string
  /** The waypoint to continue from. */
  readonly waypoint: string
}

export type ProofMessage = { readonly reached: Reached } | { readonly result: ProofResult }
