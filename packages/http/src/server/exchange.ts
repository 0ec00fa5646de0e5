import type { IncomingMessage, ServerResponse } from 'node:http'
import type { LedgerSummary } from '@ledger-state/engine'
import { type AsyncLedger, type Ledger, type LedgerState, lastVersionOf, type Moment } from '@ledger-state/ledger'
import type { ComputeTask } from '@ledger-state/move-vm'
import type { Admission } from '../admission/admission.js'
import type { AnswerBytes } from '../admission/answer-bytes.js'
import { AnswerMemory } from '../admission/answer-memory.js'
import { versionPlace } from '../admission/near-place.js'
import type { PipelinedConnection, PipelinedRequests } from '../admission/pipelined-requests.js'
import { Upload } from '../admission/uploads.js'
import type { LedgerTicks } from '../changes/ledger-ticks.js'
import type { SharedChanges } from '../changes/shared-changes.js'
import type { StreamPlaces } from '../changes/stream-places.js'
import { clientLeft, operationDisabled, outputDisabled } from '../errors.js'
import type { ForwardableRequest } from '../forward/forwarder.js'
import type { RequestViews, Route, StreamHost } from '../operations/parts/operation.js'
import type { StateProofs } from '../operations/parts/state-proofs.js'
import { TurnBudget } from '../operations/parts/turn-budget.js'
import type { ViewPlaces } from '../operations/parts/view-places.js'
import { ViewAllowance, type ViewRules } from '../operations/parts/view-rules.js'
import { BUDGETS_OF_PAGE } from '../operations/parts/view-runs.js'
import type { OutputFormat } from '../protocol/media-types.js'
import type { ComputeThread } from '../views/compute-thread.js'
import type { ChainHeaders } from './chain-headers.js'
import type { CommonHeads } from './common-heads.js'
import type { RequestListenerOptions } from './request-listener-options.js'
import type { FoundRoute } from './router.js'

/** Parts that all exchanges of a service share. */
export interface ServiceContext {
  readonly ledger: Ledger | AsyncLedger
  readonly output: Readonly<Record<OutputFormat, boolean>>
  readonly chainHeaders: ChainHeaders
  readonly commonHeads: CommonHeads
  readonly corsHeaders: (origin: string) => readonly string[]
  readonly archivalEndpoint: string | undefined
  /** The requests of each connection, in their order. */
  readonly pipelined: PipelinedRequests<Exchange>
  readonly admission: Admission
  readonly viewRules: ViewRules
  readonly viewPlaces: ViewPlaces
  readonly computeThread: ComputeThread
  /** Writes of versions for streams; undefined if there are no streams. */
  readonly changes: SharedChanges | undefined
  readonly streams: StreamPlaces
  readonly ticks: LedgerTicks
  /** Silence after which a stream sends a heartbeat. */
  readonly heartbeatMs: number
  /** Milliseconds for which an operation may wait for a newer state; 0 if nobody shows one earlier. */
  readonly lateMs: number
  readonly onView: RequestListenerOptions['onView']
  readonly proofs: StateProofs | undefined
  /** Whether connections are closed after their next answer. */
  readonly isClosing: () => boolean
  readonly onUnexpectedError: RequestListenerOptions['onUnexpectedError']
  readonly onAnswered: RequestListenerOptions['onAnswered']
}

const NO_BODY = Buffer.alloc(0)

/** State before the router has found the route. A request without a route stays in it. */
interface Queued {
  readonly kind: 'queued'
  readonly found?: undefined
}

/** State while the request waits for a version, its body or its turn. */
interface Routed {
  readonly kind: 'routed'
  readonly found: FoundRoute
  /** Memory of the body; undefined before the body is received. */
  readonly upload: Upload | undefined
}

/** State while the operation runs, or its answer is being compressed. */
interface Running {
  readonly kind: 'running'
  readonly found: FoundRoute
  readonly upload: Upload | undefined
  /** Ledger that the operation reads; over an async ledger it is undefined until `runAgain` sets it. */
  readonly ledger: Ledger | undefined
  /** The state at which the request was read, which the headers of its answer describe. */
  readonly pinned: LedgerSummary | undefined
  /** The version that the request names by a time. */
  readonly readVersion: bigint | undefined
  /** Budget that all views of the request together have left; undefined before the first view. */
  readonly allowance: ViewAllowance | undefined
  /** Memory of the answer; undefined while it takes none that is counted. */
  readonly memory: AnswerMemory | undefined
}

/** State after the answer was handed to its socket, or the client left before. */
interface Answered {
  readonly kind: 'answered'
  readonly found?: undefined
  /** Time of the answer in milliseconds of `performance.now`. */
  readonly at: number
}

/** States of an exchange, in order. Each may end in answered. */
export type ExchangeState = Queued | Routed | Running | Answered

/** The running state in the form that only its exchange may write, while the operation runs. */
type WritableRunning = { -readonly [Name in keyof Running]: Running[Name] }
type OwnState = Exclude<ExchangeState, Running> | WritableRunning
type StateOf<K extends ExchangeState['kind']> = Extract<OwnState, { kind: K }>

const QUEUED: Queued = { kind: 'queued' }

/** A request and its response. */
export class Exchange implements ForwardableRequest {
  readonly request: IncomingMessage
  readonly response: ServerResponse
  readonly context: ServiceContext
  /** Whether the client sends its body only after `100 Continue`. */
  readonly awaitsContinue: boolean
  /** The requests of its connection. */
  readonly connection: PipelinedConnection<Exchange>
  /** Time at which its headers were in, in milliseconds of `performance.now`. */
  readonly arrivedAt = performance.now()
  /** The version that the client has seen, as it says; undefined if it does not. */
  seenVersion: bigint | undefined
  /** Whether it ends when its response is closed, because its client left. */
  endsWithResponse = false
  #readyAt = this.arrivedAt
  #state: OwnState = QUEUED
  #gone: AbortSignal | undefined

  constructor(request: IncomingMessage, response: ServerResponse, context: ServiceContext, awaitsContinue: boolean) {
    this.request = request
    this.response = response
    this.context = context
    this.awaitsContinue = awaitsContinue
    this.connection = context.pipelined.of(request.socket)
  }

  get state(): ExchangeState {
    return this.#state
  }

  /** Time at which it arrived or its last wait ended, in milliseconds of `performance.now`. */
  get readyAt(): number {
    return this.#readyAt
  }

  /** Bytes that the operation parses: the body, or the target if there is no body to receive. */
  get parsedBytes(): number {
    const { upload } = this.#expect('routed')
    return upload ? (upload.body?.length ?? 0) : this.request.url!.length
  }

  get isAnswered(): boolean {
    return this.#state.kind === 'answered'
  }

  /** The state while the operation runs; otherwise undefined. */
  get running(): Running | undefined {
    return this.#state.kind === 'running' ? this.#state : undefined
  }

  /** Route; undefined before the router has found it, and after the answer. */
  get route(): Route | undefined {
    return this.#state.found?.route
  }

  /** Changes from queued to routed. */
  takeRoute(found: FoundRoute): void {
    this.#expect('queued')
    this.#state = { kind: 'routed', found, upload: undefined }
  }

  /** Creates the memory of the body, which is released with the answer. */
  openUpload(): Upload {
    const upload = new Upload()
    this.#state = { kind: 'routed', found: this.#expect('routed').found, upload }
    return upload
  }

  /**
   * Continues after a wait.
   * @throws `client_left` if the client left, or the request was answered while it waited, such as one with a broken
   * body
   */
  resume(): void {
    if (this.isAnswered || this.response.destroyed) throw clientLeft()
    this.#readyAt = performance.now()
  }

  /** Changes from routed to running. */
  run(ledger: Ledger | undefined): void {
    const { found, upload } = this.#expect('routed')
    this.#run(found, upload, ledger)
  }

  /**
   * Restarts the operation over another ledger, and drops the resources of its last run.
   * @throws `client_left` if the client no longer waits for the answer
   */
  runAgain(ledger: Ledger): void {
    if (this.response.destroyed) throw clientLeft()
    const running = this.#expectRunning()
    running.memory?.release()
    running.memory?.free()
    this.#run(running.found, running.upload, ledger)
  }

  /**
   * Changes to answered. Releases resources that only building the answer needs, because the response may stay open for
   * a long time.
   * @returns the time of the answer, in milliseconds of `performance.now`
   */
  end(): number {
    const state = this.#state
    const at = performance.now()
    this.#state = { kind: 'answered', at }
    if (state.kind === 'running') state.memory?.release()
    if ('upload' in state && state.upload) this.context.admission.uploads.release(state.upload)
    return at
  }

  #run(found: FoundRoute, upload: Upload | undefined, ledger: Ledger | undefined): void {
    this.#state = {
      kind: 'running',
      found,
      upload,
      ledger,
      pinned: undefined,
      readVersion: undefined,
      allowance: undefined,
      memory: undefined,
    }
  }

  #expect<K extends ExchangeState['kind']>(kind: K): StateOf<K> {
    const state = this.#state
    if (state.kind !== kind) throw new Error(`the exchange is ${state.kind}, not ${kind}`)
    return state as StateOf<K>
  }

  /**
   * The running state. An operation that still runs after its exchange was answered ends here, for example if the
   * client left.
   */
  #expectRunning(): WritableRunning {
    if (this.#state.kind === 'answered') throw clientLeft()
    return this.#expect('running')
  }

  get accept(): string | undefined {
    return this.request.headers.accept
  }

  get contentType(): string | undefined {
    return this.request.headers['content-type']
  }

  get lastEventId(): string | undefined {
    return this.request.headers['last-event-id'] as string | undefined
  }

  get ifNoneMatch(): string | undefined {
    return this.request.headers['if-none-match']
  }

  get askedVersion(): string | undefined {
    const { headers } = this.request
    const name = this.context.chainHeaders.versionNames.find((one) => headers[one] !== undefined)
    return name === undefined ? undefined : String(headers[name])
  }

  get params(): Readonly<Record<string, string>> {
    return this.#expectRunning().found.params
  }

  get query(): string {
    const url = this.request.url!
    const at = url.indexOf('?')
    return at < 0 ? '' : url.slice(at + 1)
  }

  get body(): Buffer {
    return this.#expectRunning().upload?.body ?? NO_BODY
  }

  get ledger(): Ledger {
    return this.#expectRunning().ledger!
  }

  get views(): RequestViews {
    const running = this.#expectRunning()
    const { viewRules: rules, viewPlaces: places, computeThread, onView } = this.context
    running.allowance ??= new ViewAllowance(rules.budget)
    return { rules, allowance: running.allowance, places, compute: (task) => computeThread.run(task), onView }
  }

  expectStreams(): () => StreamHost {
    const { ledger, changes } = this.context
    if (!changes || ledger.kind === 'async') throw operationDisabled.streamsDisabled()
    return () => this.#openStream(ledger, changes)
  }

  #openStream(ledger: Ledger, changes: StreamHost['changes']): StreamHost {
    const { streams, ticks, isClosing, onUnexpectedError, heartbeatMs } = this.context
    const { viewRules: rules, viewPlaces: places, computeThread, onView, admission } = this.context
    const { load } = admission
    const { request, response } = this
    streams.take(response, request.socket.remoteAddress ?? '')
    const views = { rules, places, compute: (task: ComputeTask) => computeThread.run(task), onView }
    return {
      ledger,
      changes,
      ticks,
      turn: new TurnBudget(this),
      openViews: () => ({ ...views, allowance: new ViewAllowance(rules.budget, BUDGETS_OF_PAGE) }),
      heartbeatMs,
      hold: (bytes) => load.hold(bytes),
      release: (bytes) => load.release(bytes),
      isOver: () => response.destroyed || isClosing(),
      isClosing,
      onFault: (error) => onUnexpectedError?.(error, { method: request.method!, url: request.url! }),
    }
  }

  get proofs(): StateProofs | undefined {
    return this.context.proofs
  }

  get via(): string | undefined {
    return this.request.headers.via
  }

  get gone(): AbortSignal {
    if (!this.#gone) {
      const controller = new AbortController()
      this.#gone = controller.signal
      if (this.response.closed) controller.abort()
      else this.response.on('close', () => controller.abort())
    }
    return this.#gone
  }

  pin(asked: Moment | undefined, end?: bigint): LedgerState {
    const running = this.#expectRunning()
    const ledger = running.ledger!
    const state = ledger.at(end ?? (asked && lastVersionOf(ledger, asked)))
    if (running.pinned === undefined && asked && 'timestampUsec' in asked) running.readVersion = state.version
    running.pinned = state.ledger
    return state
  }

  expectOutput(format: OutputFormat, what: string): void {
    if (!this.context.output[format]) throw outputDisabled.format(what, format)
  }

  /**
   * Waits until the ledger is newer than the pinned state, for some milliseconds at most: another process may have shown
   * what this one does not find. Undefined if there is no other process, or too many requests wait.
   * @throws `client_left`
   */
  untilNewer(): Promise<void> | undefined {
    const { lateMs, admission } = this.context
    const { pinned } = this.#expectRunning()
    if (lateMs === 0 || !pinned) return undefined
    const next = versionPlace(pinned.latestVersion + 1n)
    const { held } = admission
    const late = held.untilNear(this.response, next, lateMs)
    return late ?? (held.isReached(next.isIn) ? Promise.resolve() : undefined)
  }

  hold(bytes: number): void {
    this.#memory.hold(bytes)
  }

  openBody(): AnswerBytes {
    return this.#memory.openBody()
  }

  get #memory(): AnswerMemory {
    const running = this.#expectRunning()
    running.memory ??= new AnswerMemory(this.context.admission)
    return running.memory
  }

  async nextTurn(): Promise<number> {
    const milliseconds = await this.context.admission.turns.nextTurn()
    if (this.response.destroyed) throw clientLeft()
    return milliseconds
  }
}
