import type { StateEngine } from '@ledger-state/state-engine'
import { formatCount, formatShare } from '../terminal/amounts.js'
import { createProgressLine } from '../terminal/progress-line.js'

const LOOK_MS = 200

/** Merges all commits so far, and shows how many of their writes are merged. */
export async function mergeWithProgress(engine: StateEngine, stream: NodeJS.WriteStream): Promise<void> {
  const { memtableEntries } = engine.stats
  const before = mergedWrites(engine)
  const line = createProgressLine(stream)
  const show = () =>
    line.update((seconds) => {
      const done = Math.min(memtableEntries, Math.max(0, mergedWrites(engine) - before))
      const amount = `${formatCount(done)} of ${formatCount(memtableEntries)} writes`
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

/** Number of merged writes: each is the newest of its key, or was superseded by another. */
function mergedWrites({ stats }: StateEngine): number {
  return stats.keys + stats.historyEntries
}
