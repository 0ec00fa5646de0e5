import type { TrustedState } from '@ledger-state/records'

/** A version up to which validators signed a ledger. */
export interface SignedVersion {
  readonly version: bigint
  /** Root of the ledger's accumulator after the version. */
  readonly accumulatorRoot: Uint8Array
  readonly trustedState: TrustedState
  /** Checkpoint as in `LedgerVersion`, if one of this version was asked for. */
  readonly checkpoint?: Uint8Array | undefined
  /** `LedgerSource.mark` after this version, if the point has a checkpoint. */
  readonly mark?: Uint8Array | undefined
}

/** The trusted state of a genesis that has a trusted waypoint. */
export function trustedStateOfGenesis(waypoint: string): TrustedState {
  return { waypoint, ending: waypoint, epoch: 0n, power: undefined }
}
