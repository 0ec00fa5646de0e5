import type { ServerResponse } from 'node:http'
import { overloaded, type RequestError } from '../errors.js'

export interface LoadLimits {
  /** Requests whose body is in and that are worked on or whose answer is under way, at one time. Default 2,000. */
  readonly maxRequestsInFlight: number
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
  #isSampling = false
  #sampledAt = 0
  #requestsSinceSample = 0
  #delayMs = 0
  #previousDelayMs = 0
  readonly #leave = (): void => {
    this.#inFlight--
  }

  constructor(limits: LoadLimits) {
    this.#limits = limits
  }

  /** Admits a request, or answers why not. One with a body is in flight until its response is closed. */
  admit(response: ServerResponse, hasBody: boolean): RequestError | undefined {
    this.#requestsSinceSample++
    if (!this.#isSampling) this.#sampleLater()
    // One late round may be a pause of the machine or of the garbage collector; two in succession are a load.
    const delayMs = Math.min(this.#delayMs, this.#previousDelayMs)
    const { maxRequestsInFlight, maxEventLoopDelayMs } = this.#limits
    if (this.#inFlight >= maxRequestsInFlight || delayMs > maxEventLoopDelayMs) return overloaded()
    if (hasBody) {
      this.#inFlight++
      // Emitted once for every response, whether it went out whole or the client left.
      response.once('close', this.#leave)
    }
    return undefined
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
