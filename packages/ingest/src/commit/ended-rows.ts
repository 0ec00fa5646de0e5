import type { Write } from '@ledger-state/core'
import { keyAfter } from '@ledger-state/core/bytes'
import type { AsyncStateSnapshot, ScanPage } from '@ledger-state/engine'
import { endedIn, KEY_FAMILIES } from '@ledger-state/records'

const FAMILIES = [KEY_FAMILIES.endedStore.prefix, KEY_FAMILIES.endedCoin.prefix]
/** Rows that a commit reads in addition to four for each row that earlier commits wrote. */
const LEAST_ROWS = 64
const ROWS_PER_NEW_ROW = 4
/** Most rows that one commit reads. */
const MOST_ROWS = 10_000
/** Rows as which a page counts at least that ends before its limit: it has passed thousands of keys that are gone. */
const ROWS_OF_PAGE = 1_000

/** Where a pass over the rows is. */
interface Place {
  readonly family: number
  readonly start: Uint8Array | undefined
  /** The oldest version when the pass began. */
  readonly oldest: bigint
}

/**
 * Finds rows about holdings that ended before the oldest version: no question reaches them. A prune drops superseded
 * values only, so an ingest deletes these rows, a few with each commit. It passes over all of them again and again
 * while the oldest version moves.
 */
export class EndedRows {
  #place: Place | undefined
  /** The oldest version when the last complete pass began. */
  #swept = 0n
  #rows = LEAST_ROWS

  /** Counts the rows among the writes of a version. */
  count(writes: readonly Write[]): void {
    for (const [key] of writes) if (key[1]! >= FAMILIES[0]![1]!) this.#rows += ROWS_PER_NEW_ROW
    this.#rows = Math.min(MOST_ROWS, this.#rows)
  }

  /** Deletions of the next rows that nobody needs. */
  async next(held: AsyncStateSnapshot): Promise<Write[]> {
    const oldest = held.ledger?.oldestVersion ?? 0n
    if (!this.#place && oldest <= this.#swept) return []
    let place: Place = this.#place ?? { family: 0, start: undefined, oldest }
    const writes: Write[] = []
    for (let left = this.#rows; left > 0; ) {
      const { entries, next } = await scanRows(held, place, left)
      for (const { key } of entries) if (endedIn(key).version <= oldest) writes.push([key, null])
      left -= next && entries.length < left ? Math.max(entries.length, ROWS_OF_PAGE) : entries.length
      if (next) place = { ...place, start: next }
      else if (place.family + 1 < FAMILIES.length) place = { ...place, family: place.family + 1, start: undefined }
      else {
        this.#swept = place.oldest
        this.#place = undefined
        return writes
      }
    }
    this.#rows = LEAST_ROWS
    this.#place = place
    return writes
  }
}

/** The rows at a place, and where the next ones begin; undefined at the end of the family. */
async function scanRows(held: AsyncStateSnapshot, { family, start }: Place, limit: number): Promise<ScanPage> {
  const { entries, next } = await held.at().scan(FAMILIES[family]!, { start, limit })
  return { entries, next: entries.length === limit ? keyAfter(entries.at(-1)!.key) : next }
}
