const TIMEOUT_MS = 30_000

/** Limits of each request to a node: it ends after a time, and follows no redirect to a server that nobody named. */
export function requestLimits(): { readonly redirect: 'error'; readonly signal: AbortSignal } {
  return { redirect: 'error', signal: AbortSignal.timeout(TIMEOUT_MS) }
}
