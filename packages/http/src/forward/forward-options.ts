import type { UnservedKind } from '../operations/unserved.js'

/**
 * What an upstream is asked for: `gas` (the gas price), `submit`, `simulate`, `transactions`, `events`, `blocks` (those
 * with their transactions), and `state` (reads of state at versions that are pruned here).
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

/** What requests that go to an upstream may take, apart from what reads of the ledger take. */
export interface ForwardLimits {
  /** Largest body of a request that is forwarded. */
  readonly forwardBodyLimitBytes: number
  /** Largest answer of an upstream, unpacked. */
  readonly forwardAnswerLimitBytes: number
  /** How long a forwarded request may take, from its turn to the last byte of its answer, in milliseconds. */
  readonly forwardTimeoutMs: number
  /** Requests that are with an upstream at one time. */
  readonly maxForwards: number
  /** Requests that wait for their turn to be forwarded; more are answered 503. */
  readonly maxForwardQueue: number
}

/** One request that was forwarded, when it is over. */
export interface Forwarded {
  readonly kind: ForwardKind
  /** Status of the upstream; 503 where it gave no answer that can be passed on, 499 where the client left before. */
  readonly status: number
  /** Seconds from its turn to the last byte. */
  readonly seconds: number
  /** Bytes of the body of the answer, unpacked. */
  readonly bytes: number
}

/** What became of an upstream. `why` is undefined if it answers (again) with the chain of this ledger. */
export interface UpstreamChange {
  readonly url: string
  readonly why: string | undefined
}

/** Which requests are forwarded, and to whom. */
export interface ForwardOptions {
  /**
   * The upstream of each kind: an absolute URL that ends in `/v1`. Kinds without one are not forwarded. With one for
   * `state`, reads of state at versions that were pruned here are forwarded, too.
   */
  readonly upstreams: Readonly<Partial<Record<ForwardKind, string>>>
  /** Sent to every upstream with each request, such as credentials; nothing of the kind is taken from clients. */
  readonly headers?: Readonly<Record<string, string>>
  /**
   * How much later than this one another process that serves the same store, behind the same address, may see a commit, in
   * milliseconds: an answer that names a version waits until all of them have it. Default 0, for a single process.
   */
  readonly spreadMs?: number
  /** Called when a request is sent to its upstream. */
  readonly onForward?: (kind: ForwardKind) => void
  /** Called when that request has ended. */
  readonly onForwarded?: (forwarded: Forwarded) => void
  /** Called when an upstream becomes unusable, and when it can be used again. */
  readonly onUpstreamChange?: (change: UpstreamChange) => void
}
