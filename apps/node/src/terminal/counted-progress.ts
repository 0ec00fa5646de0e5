import { formatCount, formatCounted } from './amounts.js'
import { createProgressLine } from './progress-line.js'

/**
 * Yields the pages, and shows on standard error how many items a command has printed; `item` is the name of one. A
 * terminal that shows the items has no line of progress, because each would break the other.
 */
export async function* withCount<T>(pages: AsyncIterable<readonly T[]>, item: string): AsyncGenerator<readonly T[]> {
  if (process.stdout.isTTY) {
    yield* pages
    return
  }
  const line = createProgressLine(process.stderr)
  let printed = 0
  try {
    for await (const page of pages) {
      printed += page.length
      line.update(
        (seconds) => `${formatCounted(printed, item)}, ${formatCount(Math.round(printed / seconds))} a second`,
      )
      yield page
    }
  } finally {
    line.finish()
  }
}
