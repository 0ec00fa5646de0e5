import type { Failpoint } from '../src/failpoints/failpoints.ts'
import { TRUNCATION_SLICE_POINTS } from './truncation-points.ts'

/** Whether the stores of this run have segment files: see `vitest.config.ts`. */
export function hasSegments(): boolean {
  return process.env.LEDGER_STATE_LAYOUT !== undefined
}

/** Failpoints that only the work on records of LMDB reaches. */
const OF_RECORDS: ReadonlySet<Failpoint> = new Set([
  'merge: before the transaction ends',
  'merge: slice done',
  'prune: step before the transaction ends',
  ...TRUNCATION_SLICE_POINTS,
])

/** Failpoints that only the work on segment files reaches. */
export const POINTS_OF_LEVELS: readonly Failpoint[] = [
  'level: began',
  'level: file written',
  'level: before the transaction ends',
  'level: done',
  'level: files removed',
]

/** Those of some failpoints that the layout of this run reaches. */
export function reachedPoints(points: readonly Failpoint[]): readonly Failpoint[] {
  return hasSegments() ? points.filter((point) => !OF_RECORDS.has(point)) : points
}
