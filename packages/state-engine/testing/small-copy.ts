import type { CopyLimits } from '../src/upgrade/copy-store.ts'

/** So small that even a short ledger is copied in many parts and commits. */
export const SMALL_COPY: CopyLimits = {
  partEntries: 7,
  partBytes: 5_000,
  commitWrites: 9,
  commitBytes: 20_000,
  commitVersions: 4,
  sortBytes: 9_000,
}
