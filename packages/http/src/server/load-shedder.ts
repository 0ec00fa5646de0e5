import { overloaded, type RequestError } from '../errors.js'

export interface LoadLimits {
  /**
   * Requests whose body is in, and those without one that take more than a turn, at one time, until their answer went
   * out. Default 2,000.
   */
  readonly maxRequestsInFlight: number
  /**
   * Bytes of large answers that are handed to their sockets, at one time. Clients that do not read leave them in
   * memory. Default 256 MiB.
   */
  readonly maxAnswerBytes: number
  /** How late the event loop may come round, twice in succession, before new requests are refused. Default 1,000. */
  readonly maxEventLoopDelayMs: number
}

const SAMPLE_INTERVAL_MS = 50

/**
 * Refuses requests with 503 while there are too many, so that those which are admitted keep their latency. Reads take
 * microseconds each: what an overload shows as first is an event loop that comes round late. Its delay is sampled as
 * long as requests come.
 */
export class LoadShedder {
  readonly #limits: LoadLimits
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

  /** Why a request is refused now; undefined where it is admitted. */
  refusal(): RequestError | undefined {
    this.#requestsSinceSample++
    if (!this.#isSampling) this.#sampleLater()
    // One late round may be a pause of the machine or of the garbage collector; two in succession are a load.
    const delayMs = Math.min(this.#delayMs, this.#previousDelayMs)
    const { maxRequestsInFlight, maxEventLoopDelayMs } = this.#limits
    const isTooMuch = this.#inFlight >= maxRequestsInFlight || this.isFull
    return isTooMuch || delayMs > maxEventLoopDelayMs ? overloaded() : undefined
  }

  /** Whether answers hold all the memory that they may. */
  get isFull(): boolean {
    return this.#answerBytes >= this.#limits.maxAnswerBytes
  }

  /** A request is in flight from now on. */
  enter(): void {
    this.#inFlight++
  }

  leave(): void {
    this.#inFlight--
  }

  /** An answer, or a part of one, is held in memory for its client. */
  hold(answerBytes: number): void {
    this.#answerBytes += answerBytes
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
