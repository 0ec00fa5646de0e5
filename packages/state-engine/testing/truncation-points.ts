import type { Failpoint } from '../src/failpoints/failpoints.ts'

/** Every failpoint of a truncation, in the order of its steps. */
export const TRUNCATION_POINTS: readonly Failpoint[] = [
  'truncation: appended',
  'truncation: synced',
  'truncation: file created',
  'truncation: before the transaction ends',
  'truncation: committed',
]
