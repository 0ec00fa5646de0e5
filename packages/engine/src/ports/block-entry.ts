import type { BlockInfo } from '@ledger-state/core'

/** A block and the version that it begins with. */
export interface BlockEntry {
  readonly firstVersion: bigint
  readonly block: BlockInfo
}
