const TERMINAL_INTERVAL_MS = 200
const LOG_INTERVAL_MS = 10_000

/** Leaves a terminal at the beginning of its line, with nothing on it. */
export const CLEARED_LINE = '\r\u001b[K'

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
      // A line that is wrapped could not be rewritten.
      stream.write(stream.isTTY ? `${CLEARED_LINE}${line.slice(0, (stream.columns || 80) - 1)}` : `${line}\n`)
      drawn = stream.isTTY
    },
    finish() {
      if (drawn) stream.write(CLEARED_LINE)
      drawn = false
    },
  }
}
