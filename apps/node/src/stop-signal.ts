/** Aborted by the first SIGINT or SIGTERM; a second one ends the process at once, as if nobody listened. */
export function stopSignal(): AbortSignal {
  const controller = new AbortController()
  const signals = ['SIGINT', 'SIGTERM'] as const
  const stop = (): void => {
    for (const signal of signals) process.off(signal, stop)
    controller.abort()
  }
  for (const signal of signals) process.on(signal, stop)
  return controller.signal
}
