import type { LedgerSummary } from '@ledger-state/engine'

/** Whether a ledger has what a request waits for; there is none in an empty store. */
export type LedgerTest = (ledger: LedgerSummary | undefined) => boolean

/** A place in the ledger that another process may have shown before this one has it. */
export interface NearPlace {
  readonly isIn: LedgerTest
  /** Number of versions, blocks or seconds by which the place is above the latest. */
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

const USEC_PER_SECOND = 1_000_000n

/** The block of a time, in microseconds since 1970. */
export function timePlace(timestampUsec: bigint): NearPlace {
  return {
    isIn: (ledger) => ledger !== undefined && ledger.latestBlock.timestampUsec >= timestampUsec,
    distanceFrom: ({ latestBlock }) => (timestampUsec - latestBlock.timestampUsec) / USEC_PER_SECOND,
  }
}

export function servesVersion(version: bigint): LedgerTest {
  return (ledger) => ledger !== undefined && ledger.latestVersion >= version
}
