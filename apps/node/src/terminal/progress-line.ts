import { performance } from 'node:perf_hooks'

const TERMINAL_INTERVAL_MS = 200
const LOG_INTERVAL_MS = 10_000

export interface ProgressLine {
  /** Shows the text that is made for the seconds since the beginning, unless the text before is too young. */
  update(text: (seconds: number) => string): void
  /** Leaves a terminal without the line. */
  finish(): void
}

/**
 * Creates a line of progress: on a terminal one that is rewritten, from the first update on; elsewhere a line every
 * ten seconds.
 */
export function createProgressLine(stream: NodeJS.WriteStream): ProgressLine {
  const began = performance.now()
  const interval = stream.isTTY ? TERMINAL_INTERVAL_MS : LOG_INTERVAL_MS
  let next = stream.isTTY ? began : began + interval
  let drawn = false
  return {
    update(text) {
      const now = performance.now()
      if (now < next) return
      next = now + interval
      const line = text((now - began) / 1_000)
      stream.write(stream.isTTY ? `\r\u001b[K${line}` : `${line}\n`)
      drawn = stream.isTTY
    },
    finish() {
      if (drawn) stream.write('\r\u001b[K')
      drawn = false
    },
  }
}
