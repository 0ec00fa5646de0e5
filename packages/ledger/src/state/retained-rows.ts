import type { StateView } from '@ledger-state/engine'
import { versionOfKey, withVersion } from '@ledger-state/records'

/** A row of retained transactions. */
export interface RetainedRow {
  /** Version at the end of its key. */
  readonly version: bigint
  readonly value: Uint8Array
}

/** Versions of rows, both ends included. */
export interface RowRange {
  readonly first: bigint
  readonly last: bigint
}

/** Rows that one step reads at most. */
const MOST_ROWS = 64
/** Versions of the first step backwards; the next ones grow or shrink with their findings. */
const FIRST_STEP = 1_024n
const GROWTH = 8n

/** The rows of a range of versions, whose keys begin with a prefix, in order. */
export function* retainedRows(
  view: StateView,
  prefix: Uint8Array,
  { first, last }: RowRange,
  order: 'asc' | 'desc',
): Generator<RetainedRow, void> {
  if (order === 'asc') return yield* rowsUpwards(view, prefix, { first, last })
  let high = last
  let step = FIRST_STEP
  while (high >= first) {
    const low = high - step + 1n > first ? high - step + 1n : first
    const rows: RetainedRow[] = []
    for (const row of rowsUpwards(view, prefix, { first: low, last: high })) {
      if (rows.push(row) > MOST_ROWS && low < high) break
    }
    if (rows.length > MOST_ROWS && low < high) {
      step = step / GROWTH > 0n ? step / GROWTH : 1n
      continue
    }
    yield* rows.reverse()
    high = low - 1n
    if (rows.length < MOST_ROWS / Number(GROWTH)) step *= GROWTH
  }
}

/** The row with the greatest version of a range; undefined if it has none. */
export function lastRetainedRow(view: StateView, prefix: Uint8Array, range: RowRange): RetainedRow | undefined {
  let found: RetainedRow | undefined
  for (const row of rowsUpwards(view, prefix, range)) found = row
  return found
}

function* rowsUpwards(view: StateView, prefix: Uint8Array, { first, last }: RowRange): Generator<RetainedRow, void> {
  for (const { key, value } of view.scan(prefix, { start: withVersion(prefix, first) })) {
    const version = versionOfKey(key)
    if (version > last) return
    yield { version, value }
  }
}
