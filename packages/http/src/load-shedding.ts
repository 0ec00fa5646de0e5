import { LedgerStateError } from '@ledger-state/core'
import type { FastifyInstance } from 'fastify'

export interface LoadLimits {
  /** Requests that are being received, worked on or answered at one time. */
  readonly maxRequestsInFlight: number
  /** How late the event loop may be before new requests are refused. */
  readonly maxEventLoopDelayMs: number
}

const SAMPLE_INTERVAL_MS = 50

/**
 * Refuses requests with 503 while there are too many, so that those which are taken in keep their latency. Reads take
 * microseconds each, so what an overload shows as first is an event loop that comes round late.
 */
export function shedLoad(app: FastifyInstance, { maxRequestsInFlight, maxEventLoopDelayMs }: LoadLimits): void {
  let inFlight = 0
  let delayMs = 0
  let sampled = performance.now()
  const timer = setInterval(() => {
    const now = performance.now()
    delayMs = now - sampled - SAMPLE_INTERVAL_MS
    sampled = now
  }, SAMPLE_INTERVAL_MS).unref()

  const leave = (): void => {
    inFlight--
  }
  app.addHook('onRequest', (_request, reply, done) => {
    inFlight++
    // Emitted once for every response, whether it went out whole or the client left.
    reply.raw.once('close', leave)
    const overloaded = inFlight > maxRequestsInFlight || delayMs > maxEventLoopDelayMs
    done(overloaded ? new LedgerStateError('overloaded', 'the service is overloaded; try again later') : undefined)
  })
  app.addHook('onClose', (_app, done) => {
    clearInterval(timer)
    done()
  })
}
