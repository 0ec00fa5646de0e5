import type { ReadQuestion } from '@ledger-state/light-client'

/** An answer with its proof, and what it has to hold against. */
export interface ProofTask {
  /** Body of the answer as JSON. */
  readonly answer: string
  readonly question: ReadQuestion
  readonly version: string
  readonly waypoint: string
  /** The word before the name of each hash; null if the node says none. */
  readonly hashSalt: string | null
  /** The API of the node, ending in `/v1`. */
  readonly url: string
}

/** What a proof shows. */
export interface Believed {
  /** The proven value as JSON; null if the state has none. */
  readonly json: string | null
  readonly epoch: string
  /** How many validators signed, of all; null if the waypoint itself vouches. */
  readonly count: { readonly signed: number; readonly total: number } | null
  readonly timestampUsec: string
}

export type ProofResult = { readonly believed: Believed } | { readonly refused: string }

/** An epoch whose validators are verified, of those up to the one that signed. */
export interface Reached {
  readonly epoch: string
  readonly lastEpoch: string
  /** The waypoint to continue from. */
  readonly waypoint: string
}

export type ProofMessage = { readonly reached: Reached } | { readonly result: ProofResult }
