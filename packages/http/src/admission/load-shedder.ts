import type { ServerResponse } from 'node:http'
import { overloaded } from '../errors.js'
import { UnreadAnswers } from './unread-answers.js'

export interface LoadLimits {
  /**
   * Most requests in flight, until their answers are sent: requests with a complete body, and requests without a body
   * that take more than a turn.
   */
  readonly maxRequestsInFlight: number
  /**
   * Bytes of answers that are being built, and of answers that were handed to their sockets but are not read yet, at
   * one time. If there is no room for more, an answer that its client does not read is dropped; if there is none, the
   * request that needs room is refused.
   */
  readonly maxAnswerBytes: number
  /** Delay of the event loop, in two samples in succession, above which new requests are refused. */
  readonly maxEventLoopDelayMs: number
}

/** Facts about a request that decide how it fares under load. */
export interface LoadClass {
  readonly method: 'GET' | 'POST'
  /** Whether it is answered even while the service sheds load. */
  readonly answersUnderLoad?: boolean
}

const SAMPLE_INTERVAL_MS = 50

/**
 * Refuses requests with 503 while there are too many, so that admitted ones keep their latency. Reads take microseconds
 * each, so an overload first shows as a delay of the event loop, which is sampled while requests come.
 */
export class LoadShedder {
  readonly #limits: LoadLimits
  readonly #unread = new UnreadAnswers((bytes) => this.release(bytes))
  #inFlight = 0
  #answerBytes = 0
  #isSampling = false
  #sampledAt = 0
  #requestsSinceSample = 0
  #delayMs = 0
  #previousDelayMs = 0

  constructor(limits: LoadLimits) {
    this.#limits = limits
  }

  /**
   * Admits a request. A POST then counts as in flight.
   * @throws `overloaded`
   */
  admit(response: ServerResponse, { method, answersUnderLoad }: LoadClass): void {
    if (!answersUnderLoad && this.#isOverloaded()) throw overloaded()
    if (method === 'POST') this.enter(response)
  }

  #isOverloaded(): boolean {
    this.#requestsSinceSample++
    if (!this.#isSampling) this.#sampleLater()
    // One delay may be a pause of the machine or of the garbage collector; two in succession mean load.
    const delayMs = Math.min(this.#delayMs, this.#previousDelayMs)
    const { maxRequestsInFlight, maxEventLoopDelayMs } = this.#limits
    return this.#inFlight >= maxRequestsInFlight || delayMs > maxEventLoopDelayMs
  }

  /** Counts a request as in flight until its response is closed, whether it went out whole or the client left. */
  enter(response: ServerResponse): void {
    this.#inFlight++
    response.on('close', this.#leave)
  }

  readonly #leave = (): void => {
    this.#inFlight--
  }

  /**
   * Counts memory of an answer before it is allocated.
   * @throws `overloaded` if answers have used up their memory, and none of them has stalled
   */
  hold(answerBytes: number): void {
    while (this.#answerBytes + answerBytes > this.#limits.maxAnswerBytes) {
      if (!this.#unread.dropStalled()) throw overloaded()
    }
    this.#answerBytes += answerBytes
  }

  /** Counts memory of an answer as `hold` does, and releases it when the answer is read or its client left. */
  holdUntilRead(response: ServerResponse, answerBytes: number): void {
    this.hold(answerBytes)
    this.#unread.add(response, answerBytes)
  }

  release(answerBytes: number): void {
    this.#answerBytes -= answerBytes
  }

  #sampleLater(): void {
    this.#isSampling = true
    this.#requestsSinceSample = 0
    this.#sampledAt = performance.now()
    setTimeout(this.#sample, SAMPLE_INTERVAL_MS).unref()
  }

  readonly #sample = (): void => {
    this.#previousDelayMs = this.#delayMs
    this.#delayMs = performance.now() - this.#sampledAt - SAMPLE_INTERVAL_MS
    if (this.#requestsSinceSample > 0 || this.#delayMs > SAMPLE_INTERVAL_MS) {
      this.#sampleLater()
      return
    }
    this.#isSampling = false
    this.#delayMs = 0
    this.#previousDelayMs = 0
  }
}
