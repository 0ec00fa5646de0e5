import type { LedgerSummary } from '@ledger-state/engine'
import type { Ledger, LedgerState, Moment } from '@ledger-state/ledger'
import type { ComputeTask } from '@ledger-state/move-vm'
import type { AnswerBytes } from '../../admission/answer-bytes.js'
import type { NearPlace } from '../../admission/near-place.js'
import type { Turn } from '../../admission/turn-queue.js'
import type { LedgerTicks } from '../../changes/ledger-ticks.js'
import type { SharedChanges } from '../../changes/shared-changes.js'
import type { JsonSchema } from '../../formats/json-schema.js'
import type { ChunkedBytes } from '../../protocol/chunked-bytes.js'
import type { AnswerFormat, OutputFormat } from '../../protocol/media-types.js'
import type { SeenPlace } from './seen-place.js'
import type { StateProofs } from './state-proofs.js'
import type { ViewPlaces } from './view-places.js'
import type { ViewAllowance, ViewRules, ViewServiceOptions } from './view-rules.js'

export interface Parameter {
  readonly name: string
  readonly in: 'path' | 'query' | 'header'
  readonly description: string
  readonly schema: JsonSchema
}

/** Parts of a request that an operation may use. Each is parsed when it is asked for, in the order of the reference. */
export interface OperationRequest {
  readonly accept: string | undefined
  readonly contentType: string | undefined
  /** The `Last-Event-ID` header. */
  readonly lastEventId: string | undefined
  /** The `If-None-Match` header. */
  readonly ifNoneMatch: string | undefined
  /**
   * The header `x-<word>-ledger-version` of the request, which names the version for clients that cannot set the query.
   */
  readonly askedVersion: string | undefined
  readonly params: FoundParams
  /** Text after the `?`, as it was sent. */
  readonly query: string
  /**
   * Body; empty if the request has none. Its memory is freed when the request is answered, so copy the bytes that you
   * keep.
   */
  readonly body: Buffer
  /**
   * Parses types and assets, and knows the versions at times. Answers are read through `pin`; `at` is for checks that
   * no header describes.
   */
  readonly ledger: Pick<Ledger, 'at' | 'parseType' | 'parseAsset' | 'versionAtTime'>
  /**
   * Pins the ledger at a version or a time, by default the latest version. The headers of the answer, even of an error,
   * then describe that state.
   * @param end is pinned instead, because the moment meant this version to an earlier page
   */
  pin(asked: Moment | undefined, end?: bigint): LedgerState
  /**
   * Checks that the server answers in a format.
   * @throws `output_disabled`
   */
  expectOutput(format: OutputFormat, what: string): void
  /**
   * Counts bytes of the answer before they are allocated.
   * @throws `overloaded` if all answers together would be too large
   */
  hold(bytes: number): void
  /** Creates the body of an answer of many pieces, and counts its memory. */
  openBody(): AnswerBytes
  /** Settings of views for this request. */
  readonly views: RequestViews
  /** Source of the proofs of reads; undefined if there are none. */
  readonly proofs: StateProofs | undefined
  /**
   * Expects that this service has live streams. The returned function takes a place for an answer that follows the ledger, which is free
   * again when the connection is closed; it throws `overloaded` if there are too many, of all clients or of this one.
   * @throws `operation_disabled`
   */
  expectStreams(): () => StreamHost
  /**
   * Lets other requests have a turn. Work that may hold the event loop for longer than `TURN_BUDGET_MS` awaits this
   * between its steps. Resolves with the milliseconds that its next turn has.
   * @throws `client_left` if the client no longer waits for the answer
   */
  nextTurn(): Promise<number>
}

/** The parts of its service that a stream uses after the head of its answer was sent. */
export interface StreamHost {
  readonly ledger: Ledger
  readonly changes: SharedChanges
  readonly ticks: LedgerTicks
  /** Time of the event loop that the stream may take. */
  readonly turn: Turn
  /** Settings and budget of views for one page of runs. */
  openViews(): RequestViews
  /**
   * Counts memory as memory of answers, before it is allocated or while it is kept.
   * @throws `overloaded`
   */
  hold(bytes: number): void
  release(bytes: number): void
  /** Silence after which the stream sends a heartbeat. */
  readonly heartbeatMs: number
  /** Whether the client has left, or the service is closing. */
  isOver(): boolean
  /** Whether the service is closing. */
  isClosing(): boolean
  /** Reports a fault of the service. */
  onFault(error: unknown): void
}

/** Settings of views for one request. */
export interface RequestViews {
  readonly rules: ViewRules
  /** Budget that all views of the request together have left. */
  readonly allowance: ViewAllowance
  /** Places of views that take more than a turn. */
  readonly places: ViewPlaces
  /** Does a long task of a native in another thread. */
  compute(task: ComputeTask): Promise<readonly Uint8Array[]>
  readonly onView: ViewServiceOptions['onView']
}

/** Rest of an answer that is not wholly in memory. */
export interface AnswerRest {
  readonly chunks: AsyncIterable<Uint8Array>
  /**
   * Signal that is aborted when the answer has taken too long. Its connection is then closed, however slowly the client
   * reads.
   */
  readonly late: AbortSignal
  /** Whether the rest follows the ledger without an end: its client may have nothing to read for a long time. */
  readonly isLive?: boolean
}

/** Body of an answer; a string has only ASCII. */
export type AnswerBody = string | Uint8Array | ChunkedBytes

export interface Answer {
  /** Status; 200 by default. */
  readonly status?: number
  /**
   * Names and values, alternating, of chain-state headers of another service's state. They replace the headers of
   * `ledger`.
   */
  readonly chainState?: readonly string[]
  /** The state that the chain-state headers describe; undefined for the latest. */
  readonly ledger?: LedgerSummary | undefined
  readonly contentType: string
  /** Names and values of further headers, alternating. */
  readonly headers?: readonly string[]
  /** Whether all changes of a history in the requested range are known. */
  readonly isComplete?: boolean
  /** Values of further headers of this service, by the part of their names after `x-<word>-`. */
  readonly facts?: Readonly<Partial<Record<FactName, string>>>
  /** Start of the next page; undefined if nothing follows. */
  readonly cursor?: string | undefined
  readonly body: AnswerBody
  /** Bytes after `body`, for an answer that is not wholly in memory. */
  readonly rest?: AnswerRest
  /** Entity tag, if the same request will always have the same body. */
  readonly etag?: string
  /** Whether the client has this body already: its tag is in `If-None-Match`. */
  readonly notModified?: boolean
}

/** The chain-state headers: the ends of their names, and the formats and meanings of their values. */
export const CHAIN_STATE = [
  { name: 'chain-id', format: 'uint8', meaning: 'Chain id of the ledger.' },
  { name: 'ledger-version', format: 'uint64', meaning: 'Latest version of the ledger.' },
  { name: 'ledger-oldest-version', format: 'uint64', meaning: 'Oldest version that is not pruned.' },
  { name: 'ledger-timestampusec', format: 'uint64', meaning: 'Time of the latest block, in microseconds since 1970.' },
  { name: 'epoch', format: 'uint64', meaning: 'Epoch of the latest block.' },
  { name: 'block-height', format: 'uint64', meaning: 'Height of the latest block.' },
  { name: 'oldest-block-height', format: 'uint64', meaning: 'Height of the oldest block that is not pruned.' },
] as const

/** Facts about a history of a view, by the ends of the names of their headers. */
export const FACTS = {
  exact:
    'Whether every change of the range is shown: false for points, and if the clock is ignored and the view read it.',
  'depends-on-clock': 'Whether the view read the clock of the chain, which every block writes.',
  unchanged: 'How often something that the view read was written and its answer stayed the same.',
  'step-keys':
    'The state keys that made the view run again when they were written, with a count for each, most frequent first.',
} as const

export type FactName = keyof typeof FACTS

/** Decoded path parameters. */
export type FoundParams = Readonly<Record<string, string>>

/** The part of an operation that the server needs: its path and method, and how it runs. */
export interface Route {
  readonly method: 'GET' | 'POST'
  /** Path with `{name}` for path parameters. */
  readonly path: string
  /** Whether `Accept` decides between several media types. */
  readonly negotiates: boolean
  /** Parameters; undefined for a route that has none, or accepts any. */
  readonly parameters?: readonly Parameter[]
  /**
   * Whether it may take more than a turn. It then never begins at once, and leaves each turn to small requests first.
   */
  readonly takesTurns?: boolean
  /**
   * Whether it is answered even while the service sheds load, and without waiting for a version that the request names.
   */
  readonly answersUnderLoad?: boolean
  /**
   * The place in the ledger that a client has seen, from its `Last-Event-ID`. If the ledger does not have it yet, the
   * request is held: another reader, which sent it, may be some milliseconds ahead of this one.
   */
  readonly seenPlace?: (lastEventId: string) => SeenPlace | undefined
  /**
   * The block or the version about which a request asks, besides a version at which it reads. Another reader, which
   * showed it, may be some milliseconds ahead of this one.
   */
  readonly namedPlace?: (
    params: FoundParams,
    request: Pick<OperationRequest, 'query' | 'askedVersion'>,
  ) => NearPlace | undefined
  /** Whether it looks for an unknown transaction once more if the ledger is newer in some milliseconds. */
  readonly looksTwice?: boolean
  /** Handles a request. Synchronous unless it must yield, because a promise costs more than a look-up. */
  handle(request: OperationRequest): Answer | Promise<Answer>
}

/** An operation of the service: its requests, its description, and its work. */
export interface Operation extends Route {
  readonly id: string
  readonly tag: string
  readonly summary: string
  readonly description: string
  readonly parameters: readonly Parameter[]
  readonly requestBody?: JsonSchema
  /** Media type of a BCS body, for an operation that accepts BCS and JSON. */
  readonly bcsRequestType?: string
  /** Content of a 200, by format. */
  readonly success: Readonly<Partial<Record<AnswerFormat, JsonSchema>>>
  /** Whether answers say if they are complete. */
  readonly tellsCompleteness?: boolean
  /** Whether answers have the headers of `FACTS`. */
  readonly tellsFacts?: boolean
  /** Whether answers may have a cursor. */
  readonly isPaged?: boolean
  /** Whether answers may have an entity tag, so that a request with the tag is a 304. */
  readonly isTagged?: boolean
  /** Whether the request header `x-<word>-ledger-version` may name the version to read. */
  readonly readsVersionHeader?: boolean
  /** Statuses of errors with which it may answer. */
  readonly errors: readonly number[]
}

const LEDGER_VERSION_PARAMETER: Parameter = {
  name: 'ledger_version',
  in: 'query',
  description: 'Ledger version at which state is read; the latest when omitted.',
  schema: { $ref: '#/components/schemas/U64' },
}

const LEDGER_TIMESTAMP_PARAMETER: Parameter = {
  name: 'ledger_timestamp',
  in: 'query',
  description:
    'Instead of `ledger_version`: the state of the newest block at or before a time, in microseconds since 1970 or as RFC 3339 with Z or an offset.',
  schema: { type: 'string', examples: ['1769817600000000', '2026-01-31T00:00:00Z'] },
}

/** Parameters that name the state to read. */
export const STATE_PARAMETERS: readonly Parameter[] = [LEDGER_VERSION_PARAMETER, LEDGER_TIMESTAMP_PARAMETER]

/** Statuses that every operation on state shares. */
export const STATE_ERRORS = [400, 403, 404, 410, 500, 503] as const
export const BODY_ERRORS = [...STATE_ERRORS, 413, 415] as const
