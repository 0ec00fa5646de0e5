import type { ProgressLine } from '../terminal/progress-line.js'

const LOG_INTERVAL_MS = 60_000

/** Logs progress, one line a minute. */
export function loggedProgress(say: (text: string) => void): ProgressLine {
  const began = performance.now()
  let next = began + LOG_INTERVAL_MS
  return {
    update(text) {
      const now = performance.now()
      if (now < next) return
      next = now + LOG_INTERVAL_MS
      say(text((now - began) / 1_000))
    },
    finish() {},
  }
}
