/** Bounds of the pauses of a `Backoff`. */
export interface BackoffOptions {
  /** Longest pause after the first failure, in milliseconds. */
  readonly firstMs: number
  /** Longest pause after many failures, in milliseconds. */
  readonly longestMs: number
}

/**
 * Counts failures in a row, and says how long to wait after each: twice as long as after the previous one, up to a
 * bound. A random half of each pause is left out, so that callers that failed together do not retry together.
 *
 * No library does this for us: p-retry runs one function again, and most callers here are streams and lists of servers,
 * which start counting again after any progress, announce the length of the pause, and wait for as long as
 * `Retry-After` says.
 * @example
 * ```ts
 * import { Backoff, pauseFor } from '@ledger-state/core'
 *
 * const backoff = new Backoff({ firstMs: 10, longestMs: 1_000 })
 * while (backoff.failures < 3) await pauseFor(backoff.next()) // up to 10, 20 and 40 ms
 * console.log(backoff.failures) // 3
 * ```
 */
export class Backoff {
  readonly #options: BackoffOptions
  #failures = 0

  constructor(options: BackoffOptions) {
    this.#options = options
  }

  /** Failures since the last success. */
  get failures(): number {
    return this.#failures
  }

  /**
   * Counts a failure, and answers the milliseconds to wait.
   * @param atLeastMs the pause that the other side asked for, 0 by default; only this may exceed the longest pause
   */
  next(atLeastMs = 0): number {
    const { firstMs, longestMs } = this.#options
    const full = Math.min(longestMs, firstMs * 2 ** this.#failures++)
    return Math.max(atLeastMs, full * (0.5 + Math.random() / 2))
  }

  /** Forgets the failures: something succeeded. */
  reset(): void {
    this.#failures = 0
  }
}

/** Resolves after `milliseconds`, at once if that is 0 or less, or as soon as the signal is aborted. */
export async function pauseFor(milliseconds: number, signal?: AbortSignal): Promise<void> {
  if (signal?.aborted) return
  await new Promise<void>((resolve) => {
    const end = (): void => {
      clearTimeout(timer)
      signal?.removeEventListener('abort', end)
      resolve()
    }
    const timer = setTimeout(end, Math.max(0, milliseconds))
    signal?.addEventListener('abort', end)
  })
}
