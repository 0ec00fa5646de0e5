import type { StateEngine } from '@ledger-state/state-engine'
import { formatCount, formatCounted, formatShare } from '../terminal/amounts.js'
import { createProgressLine } from '../terminal/progress-line.js'

const LOOK_MS = 200

/** Merges all commits so far, and shows how many of their writes are merged. */
export async function mergeWithProgress(engine: StateEngine, stream: NodeJS.WriteStream): Promise<void> {
  const { memtableEntries } = engine.stats
  const before = engine.stats.mergedWrites
  const line = createProgressLine(stream)
  const show = () =>
    line.update((seconds) => {
      const done = Math.min(memtableEntries, Math.max(0, engine.stats.mergedWrites - before))
      const amount = `${formatCount(done)} of ${formatCounted(memtableEntries, 'write')}`
      return `merging: ${amount}, ${formatShare(done, memtableEntries, seconds)}`
    })
  show()
  const timer = setInterval(show, LOOK_MS)
  try {
    await engine.merge()
  } finally {
    clearInterval(timer)
    line.finish()
  }
}
