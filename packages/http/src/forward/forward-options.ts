import type { UnservedKind } from '../operations/parts/unserved.js'

/**
 * Kind of a forwarded request: `gas` (the gas price), `submit`, `simulate`, `transactions`, `events`, `blocks` (with
 * their transactions), or `state` (reads of state at versions that are pruned here).
 */
export type ForwardKind = UnservedKind | 'gas' | 'blocks' | 'state'

/** All kinds of requests that can be forwarded. */
export const FORWARD_KINDS: readonly ForwardKind[] = [
  'gas',
  'submit',
  'simulate',
  'transactions',
  'events',
  'blocks',
  'state',
]

/** Limits for requests that go to an upstream, separate from the limits of reads of the ledger. */
export interface ForwardLimits {
  /** Largest body of a request that is forwarded. */
  readonly forwardBodyLimitBytes: number
  /** Largest answer of an upstream, unpacked. */
  readonly forwardAnswerLimitBytes: number
  /** Time that a forwarded request may take, from its turn to the last byte of its answer, in milliseconds. */
  readonly forwardTimeoutMs: number
  /** Most requests that are with an upstream at one time. */
  readonly maxForwards: number
  /** Most requests that wait for their turn to be forwarded; further ones are answered 503. */
  readonly maxForwardQueue: number
}

/** Report on one forwarded request, when it is over. */
export interface Forwarded {
  readonly kind: ForwardKind
  /** Status of the upstream; 503 if it gave no answer that can be passed on, 499 if the client left before. */
  readonly status: number
  /** Seconds from its turn to the last byte. */
  readonly seconds: number
  /** Bytes of the body of the answer, unpacked. */
  readonly bytes: number
}

/** Change of an upstream. `why` is undefined if it answers (again) with the chain of this ledger. */
export interface UpstreamChange {
  readonly url: string
  readonly why: string | undefined
}

/** Requests that are forwarded, and their upstreams. */
export interface ForwardOptions {
  /**
   * Upstream of each kind: an absolute URL that ends in `/v1`. Kinds without one are not forwarded. If `state` has one,
   * reads of state at versions that were pruned here are forwarded, too.
   */
  readonly upstreams: Readonly<Partial<Record<ForwardKind, string>>>
  /**
   * Headers that are sent to every upstream with each request, such as credentials. Such headers of clients are not
   * passed on.
   */
  readonly headers?: Readonly<Record<string, string>>
  /** Called when a request is sent to its upstream. */
  readonly onForward?: (kind: ForwardKind) => void
  /** Called when a forwarded request has ended. */
  readonly onForwarded?: (forwarded: Forwarded) => void
  /** Called when an upstream becomes unusable, and when it can be used again. */
  readonly onUpstreamChange?: (change: UpstreamChange) => void
}
