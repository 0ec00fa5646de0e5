import type { LedgerSummary } from '@ledger-state/engine'

/** Whether a ledger has what a request waits for; there is none in an empty store. */
export type LedgerTest = (ledger: LedgerSummary | undefined) => boolean

/** A place in the ledger that another process may have shown before this one has it. */
export interface NearPlace {
  readonly isIn: LedgerTest
  /** Number of versions, or of blocks, by which the place is above the latest. */
  distanceFrom(ledger: LedgerSummary): bigint
}

export function versionPlace(version: bigint): NearPlace {
  return {
    isIn: servesVersion(version),
    distanceFrom: ({ latestVersion }) => version - latestVersion,
  }
}

export function blockPlace(height: bigint): NearPlace {
  return {
    isIn: (ledger) => ledger !== undefined && ledger.latestBlock.height >= height,
    distanceFrom: ({ latestBlock }) => height - latestBlock.height,
  }
}

export function servesVersion(version: bigint): LedgerTest {
  return (ledger) => ledger !== undefined && ledger.latestVersion >= version
}
