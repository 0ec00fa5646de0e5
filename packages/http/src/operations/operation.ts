import type { LedgerSummary } from '@ledger-state/engine'
import type { Ledger, LedgerState, Moment } from '@ledger-state/ledger'
import type { ComputeTask } from '@ledger-state/move-vm'
import type { AnswerBytes } from '../admission/answer-bytes.js'
import type { AnswerFormat, OutputFormat } from '../protocol/media-types.js'
import type { StateProofs } from './state-proofs.js'
import type { ViewPlaces } from './view-places.js'
import type { ViewAllowance, ViewRules, ViewServiceOptions } from './view-rules.js'

/** JSON Schema 2020-12, as OpenAPI 3.1 uses it. */
export type JsonSchema = Readonly<Record<string, unknown>>

export interface Parameter {
  readonly name: string
  readonly in: 'path' | 'query'
  readonly description: string
  readonly schema: JsonSchema
}

/** What an operation may know of a request. Its parts are parsed when they are asked for, in the order of the reference. */
export interface OperationRequest {
  readonly accept: string | undefined
  readonly contentType: string | undefined
  /** The `If-None-Match` header. */
  readonly ifNoneMatch: string | undefined
  /** Decoded path parameters. */
  readonly params: Readonly<Record<string, string>>
  /** What follows the `?`, as it was sent. */
  readonly query: string
  /** Empty if the request has none. Its memory is freed when the request is answered: what is kept of it is a copy. */
  readonly body: Buffer
  /** Parses types and assets, and knows the versions of times. Its state is read through `pin`. */
  readonly ledger: Pick<Ledger, 'parseType' | 'parseAsset' | 'versionAtTime'>
  /** Pins the ledger at a version or a time, by default the latest version; the headers of the answer, also of an error, then describe that state. */
  pin(asked: Moment | undefined): LedgerState
  /** @throws `output_disabled` if the server does not answer in the format */
  expectOutput(format: OutputFormat, what: string): void
  /**
   * Counts bytes that the answer takes of memory before it takes them.
   * @throws `overloaded` if all answers together would be too large
   */
  hold(bytes: number): void
  /** Writes an answer of many pieces, and counts what it takes. */
  openBody(): AnswerBytes
  /** How views run for this request. */
  readonly views: RequestViews
  /** Source of the proofs of reads; undefined if there are none. */
  readonly proofs: StateProofs | undefined
  /**
   * Lets other requests have their turn. Work that may hold the event loop for longer than `TURN_BUDGET_MS` waits for this
   * between its steps. Resolves with the milliseconds that are left of the turn.
   * @throws `client_left` if nobody waits for the answer any more
   */
  nextTurn(): Promise<number>
}

/** How views run for one request. */
export interface RequestViews {
  readonly rules: ViewRules
  /** What all views of the request together may still use. */
  readonly allowance: ViewAllowance
  /** Places of views that take more than a turn. */
  readonly places: ViewPlaces
  /** Does a long task of a native in another thread. */
  compute(task: ComputeTask): Promise<readonly Uint8Array[]>
  readonly onView: ViewServiceOptions['onView']
}

/** The rest of an answer that is not in memory whole. */
export interface AnswerRest {
  readonly chunks: AsyncIterable<Uint8Array>
  /** Aborted when it has taken too long: its connection is closed then, however slowly its client reads. */
  readonly late: AbortSignal
}

export interface Answer {
  /** 200 where it is not given. */
  readonly status?: number
  /** Chain-state headers of somebody else's state, names and values by turns, in place of those of `ledger`. */
  readonly chainState?: readonly string[]
  /** The state that the chain-state headers describe; where it is undefined, the latest. */
  readonly ledger?: LedgerSummary
  readonly contentType: string
  /** Further headers, names and values by turns. */
  readonly headers?: readonly string[]
  /** Whether all changes of a history in the range that was asked for are known. */
  readonly isComplete?: boolean
  /** Further headers of this service: what follows `x-<word>-` in their names, and their values. */
  readonly facts?: Readonly<Partial<Record<FactName, string>>>
  /** Start of the next page; undefined if nothing follows. */
  readonly cursor?: string | undefined
  /** A string is ASCII. */
  readonly body: string | Uint8Array
  /** What follows `body`, of an answer that is not in memory whole. */
  readonly rest?: AnswerRest
  /** Set where the same request will always have the same body. */
  readonly etag?: string
  /** The client has this body already: its tag is the one of `If-None-Match`. */
  readonly notModified?: boolean
}

/** What a history of a view says of itself, by the ends of the names of its headers. */
export const FACTS = {
  exact:
    'Whether each change of the range is shown: false of points, and where the clock is ignored and the view read it.',
  'depends-on-clock': 'Whether the view read the clock of the chain, which every block writes.',
  unchanged: 'How often something that the view read was written and its answer stayed the same.',
  'step-keys': 'The state keys whose writes made the view run again, with how often each did, the most frequent first.',
} as const

export type FactName = keyof typeof FACTS

/** What the server needs to know of a path and its method. */
export interface Route {
  readonly method: 'GET' | 'POST'
  /** Path with `{name}` for path parameters. */
  readonly path: string
  /** Whether `Accept` decides between several media types. */
  readonly negotiates: boolean
  /** Undefined of a route that has none, or takes whatever comes. */
  readonly parameters?: readonly Parameter[]
  /** Whether it may take more than a turn: it never begins at once, and leaves each turn to small requests first. */
  readonly takesTurns?: boolean
  /** Answered also while the service sheds load, and without waiting for a version that the request names. */
  readonly answersUnderLoad?: boolean
  /** Synchronous wherever it need not yield: a promise costs more than a look-up. */
  handle(request: OperationRequest): Answer | Promise<Answer>
}

/** An operation of the service: how it is asked, how it is described, and what it does. */
export interface Operation extends Route {
  readonly id: string
  readonly tag: string
  readonly summary: string
  readonly description: string
  readonly parameters: readonly Parameter[]
  readonly requestBody?: JsonSchema
  /** Media type of a body in BCS, for an operation that accepts it as well as JSON. */
  readonly bcsRequestType?: string
  /** What a 200 carries, by format. */
  readonly success: Readonly<Partial<Record<AnswerFormat, JsonSchema>>>
  /** Whether answers say if they know all. */
  readonly tellsCompleteness?: boolean
  /** Whether answers have the headers of `FACTS`. */
  readonly tellsFacts?: boolean
  /** Whether answers may carry a cursor. */
  readonly isPaged?: boolean
  /** Statuses of errors that it may answer with. */
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
    'In place of `ledger_version`: the state of the newest block at or before a time, in microseconds since 1970 or as RFC 3339 with Z or an offset.',
  schema: { type: 'string', examples: ['1769817600000000', '2026-01-31T00:00:00Z'] },
}

/** How a request names the state that it reads. */
export const STATE_PARAMETERS: readonly Parameter[] = [LEDGER_VERSION_PARAMETER, LEDGER_TIMESTAMP_PARAMETER]

/** Statuses that every operation on state shares. */
export const STATE_ERRORS = [400, 403, 404, 410, 500, 503] as const
export const BODY_ERRORS = [...STATE_ERRORS, 413, 415] as const
