/** Stop of a command from outside. */
export interface Stop {
  /** Aborted by the first SIGINT or SIGTERM. A second one ends the process at once, as if it had no handler. */
  readonly signal: AbortSignal
  /** The first signal that came, if one came. */
  readonly by: () => NodeJS.Signals | undefined
}

export function listenForStop(): Stop {
  const controller = new AbortController()
  const signals = ['SIGINT', 'SIGTERM'] as const
  let first: NodeJS.Signals | undefined
  const stop = (signal: NodeJS.Signals): void => {
    first = signal
    for (const one of signals) process.off(one, stop)
    controller.abort()
  }
  for (const signal of signals) process.on(signal, stop)
  return { signal: controller.signal, by: () => first }
}
