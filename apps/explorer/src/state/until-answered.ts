import type { Failure } from '../api/failure.ts'

/**
 * Asks again while the node is lost or busy.
 * @param onWait called with the failure before each pause
 * @throws only if it was stopped
 */
export async function untilAnswered<T>(
  ask: () => Promise<T>,
  signal: AbortSignal,
  onWait?: (failure: Failure) => void,
): Promise<T> {
  for (;;) {
    const result = await ask()
    const failure = failureOf(result)
    if (failure?.retryAfterMs === undefined) return result
    onWait?.(failure)
    await pause(failure.retryAfterMs, signal)
  }
}

function failureOf(result: unknown): Failure | undefined {
  return (result as { readonly failure?: Failure } | undefined)?.failure
}

/**
 * Waits.
 * @throws if it was stopped before it ended
 */
function pause(milliseconds: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    const stop = (): void => {
      clearTimeout(timer)
      reject(signal.reason)
    }
    const timer = setTimeout(() => {
      signal.removeEventListener('abort', stop)
      resolve()
    }, milliseconds)
    signal.addEventListener('abort', stop)
  })
}
