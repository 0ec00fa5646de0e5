import { ByteReader } from '@ledger-state/core'
import {
  type Bls,
  createPortableBls,
  EpochHistory,
  type EpochState,
  type LedgerHasher,
  readLedgerInfo,
  type SignedLedgerInfo,
  type SignedPower,
} from '@ledger-state/proof'

/** Whom a reader trusts: one point of the ledger, or the validators of an epoch. */
export interface Trust {
  /** A waypoint `version:hash`, as the network publishes it. */
  readonly waypoint?: string | undefined
  /** The validators of an epoch, such as an earlier read found them. They vouch for that epoch, and for those that follow. */
  readonly trustedValidators?: Omit<EpochState, 'bytes'> | undefined
  /** Another implementation of BLS than that in JavaScript. */
  readonly bls?: Bls | undefined
}

/** Who signed a ledger info. */
export interface Signers {
  readonly epoch: bigint
  /** Voting power that signed, of all; undefined where the waypoint itself vouches. */
  readonly power: SignedPower | undefined
  /** How many validators signed, of all; undefined where the waypoint itself vouches. */
  readonly count: { readonly signed: number; readonly total: number } | undefined
  /** A waypoint from which the next read may continue: of the newest end of an epoch that is believed. */
  readonly waypoint: string | undefined
}

/** Remembers the keys of validators, which one answer shares with the next. */
const PORTABLE_BLS = createPortableBls()

const NO_BYTES = new Uint8Array(0)

/**
 * Checks that validators who follow from what is trusted signed a ledger info.
 * @param endings ledger infos in BCS that end epochs, from the trusted one on
 * @throws `untrusted`; `invalid_bcs`, `invalid_argument`
 */
export function checkSignatures(
  hasher: LedgerHasher,
  { waypoint, trustedValidators, bls = PORTABLE_BLS }: Trust,
  endings: readonly Uint8Array[],
  ledgerInfo: SignedLedgerInfo,
): Signers {
  const history = trustedValidators
    ? EpochHistory.ofValidators(hasher, bls, { ...trustedValidators, bytes: NO_BYTES }, -1n)
    : new EpochHistory(hasher, bls, waypoint === undefined ? [] : [waypoint])
  const infos = endings.map((bytes) => readLedgerInfo(new ByteReader(bytes)))
  let validators = trustedValidators?.validators
  history.believe(infos)
  validators = infos.at(-1)?.nextEpoch?.validators ?? validators
  const power = history.expectSigned(ledgerInfo)
  const count = power && validators && { signed: countBits(ledgerInfo.signers), total: validators.length }
  return { epoch: ledgerInfo.epoch, power, count, waypoint: history.newestWaypoint ?? waypoint }
}

/** No bit beyond the validators is set: `expectSigned` refuses that. */
function countBits(mask: Uint8Array): number {
  let count = 0
  for (const byte of mask) for (let rest = byte; rest > 0; rest &= rest - 1) count++
  return count
}
