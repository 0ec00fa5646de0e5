import type { Failpoint } from '../src/failpoints/failpoints.ts'

/** Failpoints of a truncation of records of LMDB, which takes slices. */
export const TRUNCATION_SLICE_POINTS: readonly Failpoint[] = [
  'truncation: slice before the transaction ends',
  'truncation: slice done',
  'truncation: last file created',
  'truncation: before the last transaction ends',
  'truncation: reverted',
  'truncation: done',
]

/** Every failpoint of a truncation, in the order in which it reaches them. */
export const TRUNCATION_POINTS: readonly Failpoint[] = [
  'truncation: appended',
  'truncation: synced',
  'truncation: file created',
  'truncation: before the transaction ends',
  'truncation: committed',
  ...TRUNCATION_SLICE_POINTS,
]
