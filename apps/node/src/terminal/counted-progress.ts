import { formatCount, formatCounted } from './amounts.js'
import { createProgressLine } from './progress-line.js'

/** Counts the items that a command has printed. */
export interface CountedProgress {
  add(count: number): void
  finish(): void
}

/**
 * Shows on standard error how many items a command has printed; `item` is the name of one. A terminal that shows the items has no line of
 * progress, because each would break the other.
 */
export function createCountedProgress(item: string): CountedProgress {
  if (process.stdout.isTTY) return { add() {}, finish() {} }
  const line = createProgressLine(process.stderr)
  let printed = 0
  return {
    add(count) {
      printed += count
      line.update(
        (seconds) => `${formatCounted(printed, item)}, ${formatCount(Math.round(printed / seconds))} a second`,
      )
    },
    finish: () => line.finish(),
  }
}
