import type { ServerResponse } from 'node:http'
import { LedgerStateError } from '@ledger-state/core'

export interface LoadLimits {
  /** Requests with a body that are being received, worked on or answered at one time; others are answered at once. */
  readonly maxRequestsInFlight: number
  /** How late the event loop may come round, twice in succession, before new requests are refused. */
  readonly maxEventLoopDelayMs: number
}

const SAMPLE_INTERVAL_MS = 50

/**
 * Refuses requests with 503 while there are too many, so that those which are taken in keep their latency. Reads take
 * microseconds each, so what an overload shows as first is an event loop that comes round late.
 */
export class LoadShedder {
  readonly #limits: LoadLimits
  readonly #timer: NodeJS.Timeout
  #inFlight = 0
  #delayMs = 0
  #previousDelayMs = 0
  #sampled = performance.now()
  readonly #leave = (): void => {
    this.#inFlight--
  }

  constructor(limits: LoadLimits) {
    this.#limits = limits
    this.#timer = setInterval(() => {
      const now = performance.now()
      this.#previousDelayMs = this.#delayMs
      this.#delayMs = now - this.#sampled - SAMPLE_INTERVAL_MS
      this.#sampled = now
    }, SAMPLE_INTERVAL_MS).unref()
  }

  /** Takes a request in, or answers why not; one with a body leaves by itself when its response is closed. */
  admit(response: ServerResponse, hasBody: boolean): LedgerStateError | undefined {
    if (hasBody) {
      this.#inFlight++
      // Emitted once for every response, whether it went out whole or the client left.
      response.once('close', this.#leave)
    }
    const inFlight = hasBody ? this.#inFlight : this.#inFlight + 1
    // One late round may be a pause of the machine or of the garbage collector; two in succession are a load.
    const delayMs = Math.min(this.#delayMs, this.#previousDelayMs)
    if (inFlight <= this.#limits.maxRequestsInFlight && delayMs <= this.#limits.maxEventLoopDelayMs) return undefined
    return new LedgerStateError('overloaded', 'the service is overloaded; try again later')
  }

  close(): void {
    clearInterval(this.#timer)
  }
}
