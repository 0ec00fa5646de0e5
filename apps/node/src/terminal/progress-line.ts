const TERMINAL_INTERVAL_MS = 200
const LOG_INTERVAL_MS = 10_000
const MOST_WAITING_BYTES = 65_536

/** Text that clears the line of a terminal, and goes to its beginning. */
export const CLEARED_LINE = '\r\u001b[K'

export interface ProgressLine {
  /** Shows a text, unless the previous one is too recent. `text` makes it from the seconds since the beginning. */
  update(text: (seconds: number) => string): void
  /** Clears the line of a terminal. */
  finish(): void
}

/** The facts of a line, separated by commas, that fit into a width: a wrapped line could not be rewritten. */
function fitting(line: string, width: number): string {
  if (line.length <= width) return line
  const end = line.lastIndexOf(', ', width)
  return line.slice(0, end > 0 ? end : width)
}

/**
 * Creates a line of progress. On a terminal, each update rewrites it; elsewhere a line is printed every ten seconds.
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
      // Nobody reads the lines before.
      if (stream.writableLength > MOST_WAITING_BYTES) return
      const line = text((now - began) / 1_000)
      stream.write(stream.isTTY ? `${CLEARED_LINE}${fitting(line, (stream.columns || 80) - 1)}` : `${line}\n`)
      drawn = stream.isTTY
    },
    finish() {
      if (drawn) stream.write(CLEARED_LINE)
      drawn = false
    },
  }
}
