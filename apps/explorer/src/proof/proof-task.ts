import type { ReadQuestion } from '@ledger-state/light-client'

/** An answer with its proof, and the trust to verify it against. */
export interface ProofTask {
  /** Body of the answer as JSON. */
  readonly answer: string
  readonly question: ReadQuestion
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
  readonly epoch: string
  /** Number of validators that signed, and of all; null if the waypoint is trusted. */
  readonly count: { readonly signed: number; readonly total: number } | null
  readonly timestampUsec: string
}

export type ProofResult = { readonly believed: Believed } | { readonly refused: string }

/** Progress: the epoch with verified validators, and the epoch of the signers. */
export interface Reached {
  readonly epoch: string
  readonly lastEpoch: string
  /** The waypoint to continue from. */
  readonly waypoint: string
}

export type ProofMessage = { readonly reached: Reached } | { readonly result: ProofResult }
