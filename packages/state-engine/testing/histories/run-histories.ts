import fc from 'fast-check'
import { type HistoryParts, RandomHistory } from './history.ts'
import { firstVersion } from './inputs.ts'
import { historySteps } from './steps.ts'

const MOST_STEPS = 10
/**
 * Sizes of the memtable: every commit is merged at once; each is a separate segment; a few are a segment; none is merged.
 */
const memtableBytes = fc.constantFrom(0, 1, 30_000, undefined)

export interface HistoryRun {
  /** Makes the parts of a history with its own store, whose memtable takes `memtableBytes`. */
  parts(memtableBytes: number | undefined): HistoryParts
  /** Removes the store of a history. */
  close(): void
  readonly count: number
  readonly seed: number
}

/**
 * Runs random histories on an engine and on the model. Throws at the first difference, with the seed that repeats it.
 */
export async function runHistories({ parts, close, count, seed }: HistoryRun): Promise<void> {
  const example = parts(undefined)
  close()
  const steps = fc.commands(historySteps(example), { maxCommands: MOST_STEPS, size: 'max' })
  const property = fc.asyncProperty(steps, firstVersion, memtableBytes, async (chosen, first, memtableBytes) => {
    const history = new RandomHistory(parts(memtableBytes), first)
    try {
      await fc.asyncModelRun(() => ({ model: {}, real: history }), chosen)
      for (const place of [0, 100, 500, 900, 1_000]) history.compareReads(history.versionAt(place))
      await history.expectSound()
    } finally {
      await history.engine.close()
      close()
    }
  })
  // A failure that depends on time does not shrink: the test would only time out.
  await fc.assert(property, { numRuns: count, seed, endOnFailure: true })
}
