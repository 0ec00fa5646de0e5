import type { IncomingMessage, ServerResponse } from 'node:http'
import type { LedgerInfo } from '@ledger-state/engine'
import { type AsyncLedger, type Ledger, type LedgerState, lastVersionOf, type Moment } from '@ledger-state/ledger'
import type { Admission } from '../admission/admission.js'
import type { Upload } from '../admission/uploads.js'
import { clientLeft, outputDisabled } from '../errors.js'
import type { ForwardableRequest } from '../forward/forwarder.js'
import { AnswerBytes } from '../operations/answer-bytes.js'
import type { RequestViews, Route } from '../operations/operation.js'
import type { ViewPlaces } from '../operations/view-places.js'
import { ViewAllowance, type ViewRules } from '../operations/view-rules.js'
import type { OutputFormat } from '../protocol/media-types.js'
import type { ComputeThread } from '../views/compute-thread.js'
import type { ChainHeaders } from './chain-headers.js'
import type { RequestListenerOptions } from './request-listener-options.js'

/** What all exchanges of a service share. */
export interface ServiceContext {
  readonly ledger: Ledger | AsyncLedger
  readonly output: Readonly<Record<OutputFormat, boolean>>
  readonly chainHeaders: ChainHeaders
  readonly corsHeaders: (origin: string) => readonly string[]
  readonly archivalEndpoint: string | undefined
  readonly admission: Admission<Exchange>
  readonly viewRules: ViewRules
  readonly viewPlaces: ViewPlaces
  readonly computeThread: ComputeThread
  readonly onView: RequestListenerOptions['onView']
  /** Whether connections are to be closed after their next answer. */
  readonly isClosing: () => boolean
  readonly onUnexpectedError: RequestListenerOptions['onUnexpectedError']
  readonly onAnswered: RequestListenerOptions['onAnswered']
}

const NO_BODY = Buffer.alloc(0)

/** A request and its response. */
export class Exchange implements ForwardableRequest {
  readonly request: IncomingMessage
  readonly response: ServerResponse
  readonly context: ServiceContext
  /** What the operation reads. Of an async ledger, each run is given its own. */
  ledger: Ledger
  /** Undefined until the router found it. */
  route: Route | undefined = undefined
  params: Readonly<Record<string, string>> = {}
  body: Buffer = NO_BODY
  /** What holds the body; undefined of a request without one. */
  upload: Upload<Exchange> | undefined = undefined
  isInFlight = false
  /** Whether the client sends its body only when it is told to. */
  awaitsContinue = false
  /** Bytes of an answer that is being built. */
  builtBytes = 0
  #allowance: ViewAllowance | undefined
  /** Whether another thread reads the answer. */
  isCompressing = false
  readonly #bodies: AnswerBytes[] = []
  #gone: AbortSignal | undefined
  /** When the answer was handed to its socket, in milliseconds of `performance.now`. */
  answeredAt = 0
  /** The ledger state that the request was read at; headers of its answer describe this one. */
  pinned: LedgerInfo | undefined = undefined
  /** The version that the request names by a time. */
  readVersion: bigint | undefined = undefined
  isAnswered = false
  /** Whether the connection is closed after the answer. */
  isLast = false
  /** When its headers were in, in milliseconds of `performance.now`. */
  readonly arrivedAt = performance.now()

  /** `ledger` is undefined where `beginRun` gives one. */
  constructor(request: IncomingMessage, response: ServerResponse, context: ServiceContext, ledger: Ledger | undefined) {
    this.request = request
    this.response = response
    this.context = context
    this.ledger = ledger as Ledger
  }

  get accept(): string | undefined {
    return this.request.headers.accept
  }

  get contentType(): string | undefined {
    return this.request.headers['content-type']
  }

  get ifNoneMatch(): string | undefined {
    return this.request.headers['if-none-match']
  }

  get query(): string {
    const url = this.request.url!
    const at = url.indexOf('?')
    return at < 0 ? '' : url.slice(at + 1)
  }

  get views(): RequestViews {
    const { viewRules: rules, viewPlaces: places, computeThread, onView } = this.context
    this.#allowance ??= new ViewAllowance(rules.budget)
    return { rules, allowance: this.#allowance, places, compute: (task) => computeThread.run(task), onView }
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

  pin(asked: Moment | undefined): LedgerState {
    const { ledger } = this
    const state = ledger.at(asked && lastVersionOf(ledger, asked))
    if (this.pinned === undefined && asked && 'timestampUsec' in asked) this.readVersion = state.version
    this.pinned = state.ledger
    return state
  }

  expectOutput(format: OutputFormat, what: string): void {
    if (!this.context.output[format]) throw outputDisabled(what, format)
  }

  hold(bytes: number): void {
    this.context.admission.load.hold(bytes)
    this.builtBytes += bytes
  }

  openBody(): AnswerBytes {
    const body = new AnswerBytes((bytes) => this.hold(bytes))
    this.#bodies.push(body)
    return body
  }

  nextTurn(): Promise<number> {
    return new Promise((resolve, reject) => {
      this.context.admission.turns.resume((milliseconds) => {
        if (this.response.destroyed) reject(clientLeft())
        else resolve(milliseconds)
      })
    })
  }

  /** Runs the operation over a ledger, from its beginning: what a run before left is forgotten. */
  beginRun(ledger: Ledger): void {
    if (this.isAnswered || this.response.destroyed) throw clientLeft()
    this.ledger = ledger
    this.pinned = undefined
    this.readVersion = undefined
    this.#allowance = undefined
    this.releaseBuilt()
    this.freeBodies()
  }

  /** Frees what was built, unless another thread reads it. Its socket must be done with it. */
  freeBodies(): void {
    if (this.isCompressing) return
    for (const body of this.#bodies.splice(0)) body.free()
  }

  /** The answer is handed on, or given up. */
  releaseBuilt(): void {
    this.context.admission.load.release(this.builtBytes)
    this.builtBytes = 0
  }

  /** Lets go of what only building the answer needs; the response may be open for long. */
  release(): void {
    this.releaseBuilt()
    if (!this.upload) return
    this.context.admission.uploads.release(this.upload)
    this.body = NO_BODY
  }
}
