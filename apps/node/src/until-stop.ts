import { setImmediate as nextTurn } from 'node:timers/promises'
import { isLedgerStateError } from '@ledger-state/core'
import { stoppedBy } from './errors.js'
import { listenForStop, type Stop } from './terminal/stop-signal.js'

/**
 * Runs work that SIGINT or SIGTERM stops. The work gets a signal, and fails soon after it is aborted. If it is done by
 * then, its result counts. It must wait for turns of the event loop, since signals come in between.
 * @param left what a stop leaves, and how to go on, in words
 * @throws `stopped` if the work fails after a signal, unless it has found damage
 */
export async function untilStop<T>(
  left: string | (() => string),
  work: (signal: AbortSignal) => Promise<T>,
): Promise<T> {
  const stop = listenForStop()
  try {
    return await untilStopOf(stop, left, work)
  } finally {
    stop.leave()
  }
}

/** Same as `untilStop`, for a part of a command that listens already. */
export async function untilStopOf<T>(
  stop: Stop,
  left: string | (() => string),
  work: (signal: AbortSignal) => Promise<T>,
): Promise<T> {
  try {
    return await work(stop.signal)
  } catch (error) {
    const signal = stop.by()
    if (!signal || isLedgerStateError(error, 'store_corrupt', 'state_root_differs')) throw error
    throw stoppedBy(signal, typeof left === 'string' ? left : left())
  }
}

/** Yields the items until a signal is aborted, with turns in between in which a signal of the system can come. */
export async function* untilAborted<T>(items: AsyncIterable<T>, signal: AbortSignal): AsyncGenerator<T> {
  for await (const item of items) {
    yield item
    await nextTurn()
    signal.throwIfAborted()
  }
}

/** Closes a store when a signal is aborted, which ends the work on it. */
export function closeOnStop(signal: AbortSignal, store: { close(): Promise<void> }): void {
  signal.addEventListener('abort', () => void store.close(), { once: true })
}
