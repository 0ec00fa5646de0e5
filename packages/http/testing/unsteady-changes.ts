import { setImmediate as nextTurn } from 'node:timers/promises'
import type { Random } from '@ledger-state/testing/random'
import type { ChangeSource } from '../src/changes/change-source.ts'

/** A source of changes that counts its open cursors, and checks that each has one read at a time. */
export interface UnsteadyChanges extends ChangeSource {
  readonly openCursors: number
  /** Mistakes of its callers. */
  readonly faults: readonly string[]
}

/** A source whose reads take some turns, and end after a few versions. */
export function unsteadyChanges(source: ChangeSource, random: Random): UnsteadyChanges {
  let openCursors = 0
  const faults: string[] = []
  const pause = async (): Promise<void> => {
    for (let left = random.below(4); left > 0; left--) await nextTurn()
  }
  return {
    get openCursors() {
      return openCursors
    },
    faults,
    open() {
      const cursor = source.open()
      openCursors++
      let isReading = false
      let isClosed = false
      return {
        async read(first, last) {
          if (isReading) faults.push(`two reads of a cursor at one time, at ${first}`)
          if (isClosed) faults.push(`a read of a closed cursor, at ${first}`)
          isReading = true
          await pause()
          const end = first + BigInt(random.below(12))
          try {
            return await cursor.read(first, end < last ? end : last)
          } finally {
            await pause()
            isReading = false
          }
        },
        close() {
          if (!isClosed) openCursors--
          isClosed = true
          cursor.close()
        },
      }
    },
  }
}
