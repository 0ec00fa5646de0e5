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
