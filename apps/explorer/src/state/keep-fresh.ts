import type { Failure } from '../api/failure.ts'
import { newest } from './ledger.ts'

/** Rest after a load, in multiples of its duration: an open page costs a node at most a tenth of one core. */
const REST_FACTOR = 10

export interface Loader {
  /** Loads once. Resolves with the failure, if there was one; rejects only if it was stopped. */
  load(signal: AbortSignal): Promise<Failure | undefined>
  /** Whether the loaded data changes when the ledger grows. */
  isLive(): boolean
}

export interface Fresh {
  /** Loads now, or once the load under way has ended. */
  again(): void
  stop(): void
}

/** Loads at once, again after a failure that may pass, and again after the ledger grew. One load runs at a time. */
export function keepFresh({ load, isLive }: Loader): Fresh {
  const stop = new AbortController()
  let timer: ReturnType<typeof setTimeout> | undefined
  let isRunning = false
  let isStale = false
  let isAskedAgain = false
  let tookMs = 0
  const run = async (): Promise<void> => {
    isRunning = true
    isStale = false
    isAskedAgain = false
    const began = performance.now()
    const failure = await load(stop.signal)
    tookMs = performance.now() - began
    isRunning = false
    if (isAskedAgain) runAfter(0)
    else if (failure?.retryAfterMs !== undefined) runAfter(failure.retryAfterMs)
    else if (isStale) runAfter(REST_FACTOR * tookMs)
  }
  const runAfter = (milliseconds: number): void => {
    if (timer !== undefined || stop.signal.aborted) return
    timer = setTimeout(() => {
      timer = undefined
      run().catch(() => {})
    }, milliseconds)
  }
  let version = newest.peek()?.version
  const unsubscribe = newest.subscribe((head) => {
    const grew = version !== undefined && head?.version !== version
    version = head?.version
    if (!grew || !isLive()) return
    isStale = true
    if (!isRunning) runAfter(REST_FACTOR * tookMs)
  })
  run().catch(() => {})
  return {
    again() {
      isAskedAgain = true
      clearTimeout(timer)
      timer = undefined
      if (!isRunning) runAfter(0)
    },
    stop() {
      stop.abort()
      clearTimeout(timer)
      unsubscribe()
    },
  }
}
