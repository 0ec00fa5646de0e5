import type { VersionWrites } from '@ledger-state/core'

/** Where ledger data comes from: an ordered stream of versions that can be read once. */
export interface LedgerSource {
  /** What it was recognized as, for people. */
  readonly description: string
  readonly chainId: number
  /** Versions in order without gaps. Errors name the place in the source. */
  versions(): AsyncIterable<VersionWrites>
  /** Where the version yielded last stands, such as "line 7". */
  readonly position: string
  readonly progress: SourceProgress
  /** Lets go of the source; reading need not have ended. */
  close(): Promise<void>
}

export interface SourceProgress {
  /** Bytes or versions, as `unit` says. */
  readonly done: number
  readonly total: number
  readonly unit: 'bytes' | 'versions'
}
