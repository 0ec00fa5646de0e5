import { setImmediate as nextTurn } from 'node:timers/promises'
import { isLedgerStateError } from '@ledger-state/core'
import { stoppedBy } from '../errors.js'

const SIGNALS = ['SIGINT', 'SIGTERM'] as const

/** Stop of a command from outside. */
export interface Stop {
  /** Aborted by the first SIGINT or SIGTERM. A second one ends the process at once, as if it had no handler. */
  readonly signal: AbortSignal
  /** The first signal that came, if one came. */
  readonly by: () => NodeJS.Signals | undefined
}

/** Listener for a stop, which can leave later signals to others: without a handler they end the process. */
interface StopListener extends Stop {
  readonly leave: () => void
}

export function listenForStop(): StopListener {
  const controller = new AbortController()
  let first: NodeJS.Signals | undefined
  const leave = (): void => {
    for (const one of SIGNALS) process.off(one, stop)
  }
  const stop = (signal: NodeJS.Signals): void => {
    first = signal
    leave()
    controller.abort()
  }
  for (const signal of SIGNALS) process.on(signal, stop)
  return { signal: controller.signal, by: () => first, leave }
}

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
